package routes

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"

	"plantstore/models"
)

const (
	// usualBody is the size in bytes up to which buffers are kept for later use.
	usualBody = 64 << 10
	// largeDecodes bounds the larger bodies that are decoded at a time. One of
	// many short members takes up to 20 times its size meanwhile.
	largeDecodes = 2
)

// newPlantBinding is the [binding.Binding] of a [models.NewPlant]. Those that
// come with Gin let through what the contract refuses, and word their own errors.
type newPlantBinding struct {
	decoder *models.Decoder
	buffers *sync.Pool    // of *bytes.Buffer
	large   chan struct{} // holds one for each larger body that is being decoded
}

func newBinding() newPlantBinding {
	return newPlantBinding{
		decoder: models.NewDecoder(),
		buffers: &sync.Pool{New: func() any { return new(bytes.Buffer) }},
		large:   make(chan struct{}, largeDecodes),
	}
}

// Name implements [binding.Binding].
func (newPlantBinding) Name() string { return "NewPlant" }

// Bind implements [binding.Binding]: it reads the whole body, then decodes and
// validates it into target, a *models.NewPlant.
func (b newPlantBinding) Bind(req *http.Request, target any) error {
	plant, ok := target.(*models.NewPlant)
	if !ok {
		return fmt.Errorf("binding a NewPlant to a %T", target)
	}
	buffer := b.buffers.Get().(*bytes.Buffer) //nolint:forcetypeassert // nothing else is put there
	defer b.release(buffer)
	if req.ContentLength > 0 { // BodyLimit has room for it
		buffer.Grow(int(req.ContentLength) + bytes.MinRead) // to see the end, too
	}
	if _, err := buffer.ReadFrom(req.Body); err != nil {
		return err
	}
	if buffer.Len() > usualBody {
		b.large <- struct{}{}
		defer func() { <-b.large }()
	}
	return b.decoder.Decode(buffer.Bytes(), plant)
}

// release keeps the buffer for a next request, unless a rare large body made it
// too large to be kept.
func (b newPlantBinding) release(buffer *bytes.Buffer) {
	if buffer.Cap() <= usualBody {
		buffer.Reset()
		b.buffers.Put(buffer)
	}
}
