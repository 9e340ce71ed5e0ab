package routes

import (
	"errors"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"plantstore/middleware"
	"plantstore/models"
	"plantstore/storage"
)

// plants handles the operation on plants.
type plants struct {
	store   Store
	decoder *models.Decoder
	buffers *sync.Pool    // of *[]byte, each empty
	large   chan struct{} // semaphore of largeDecodes
}

func newPlants(options Options) plants {
	return plants{
		store:   options.Store,
		decoder: models.NewDecoder(options.MaxBodyBytes),
		buffers: &sync.Pool{New: func() any { return new(make([]byte, 0, firstBuffer)) }},
		large:   make(chan struct{}, largeDecodes),
	}
}

// create handles POST /plants (operationId createPlant): it decodes, validates and
// stores a plant, and responds with it.
func (p plants) create(c *gin.Context) {
	var body models.NewPlant
	if err := p.read(c.Request, &body); err != nil {
		middleware.Fail(c, err)
		return
	}
	id, plant, start := body.ID.Value, body.Plant(), time.Now()
	err := p.store.Create(c.Request.Context(), id, plant)
	middleware.OutcomeOf(c).NotePlant(id, time.Since(start), errors.Is(err, storage.ErrUnknown))
	if err != nil {
		middleware.Fail(c, storeError(id, err))
		return
	}
	middleware.OK(c, plant)
}

// storeError returns the Error for an error of the store. Its message names the client's
// next step (C1.5, C5.27, C5.28).
func storeError(id int64, err error) *models.Error {
	var exists *storage.ExistsError
	var own *models.Error
	switch {
	case errors.As(err, &own): // of a store that wraps another one
		return own
	case errors.As(err, &exists) && exists.Identical:
		return models.Errorf(models.CodeConflict, "id: %d is taken; the stored plant is identical to this one", id)
	case errors.As(err, &exists):
		return models.Errorf(models.CodeConflict, "id: %d is taken; the stored plant is different from this one", id)
	case errors.Is(err, storage.ErrUnknown):
		return models.NewError(models.CodeInternal, "the outcome is unknown; send the plant again: "+
			"if it was stored, the id is taken by an identical plant").WithCause(err)
	case errors.Is(err, storage.ErrNoSpace):
		return models.NewError(models.CodeInsufficientSpace,
			"the plant was not stored: there is no space left; try again later").WithCause(err)
	case errors.Is(err, storage.ErrOverloaded):
		return models.NewError(models.CodeUnavailable,
			"the plant was not stored: the server is overloaded; try again later").WithCause(err)
	case errors.Is(err, storage.ErrUnavailable):
		return models.NewError(models.CodeUnavailable,
			"the plant was not stored: the store is not available; try again later").WithCause(err)
	case errors.As(err, new(*storage.CorruptError)):
		return models.Errorf(models.CodeInternal, "the plant was not stored: id: %d is taken by a corrupt record; "+
			"choose another id, and report the X-Request-Id", id).WithCause(err)
	case errors.Is(err, storage.ErrCorrupt):
		return models.NewError(models.CodeInternal,
			"the plant was not stored: the database is corrupt; report the X-Request-Id").WithCause(err)
	default:
		return models.NewError(models.CodeInternal,
			"the plant was not stored: the store failed; try again, and report the X-Request-Id if the error persists").WithCause(err)
	}
}
