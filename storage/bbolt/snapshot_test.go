package bbolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
	"unsafe"

	"plantstore/internal/must"
	"plantstore/storage"
)

// TestSnapshotDoesNotBlockCreate checks that a snapshot is the state of the store when it
// began, however slow its reader is. Creates do not wait for that reader, even where the file
// grows beyond what bbolt would have mapped.
func TestSnapshotDoesNotBlockCreate(t *testing.T) {
	t.Parallel()
	for _, before := range []int{0, 1, 70} {
		t.Run(fmt.Sprintf("%d MiB", before), func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			s := mustOpen(t, path)
			createPlants(t, s, 0, before, 1<<20)
			out, in := io.Pipe()
			done := make(chan error, 1)
			go func() {
				err := s.Snapshot(t.Context(), in)
				done <- errors.Join(err, in.CloseWithError(err))
			}()
			first := make([]byte, 1)
			must.Get(io.ReadFull(out, first))(t)
			createPlants(t, s, int64(before), 80, 1<<20)
			rest, err := io.ReadAll(out)
			must.Do(t, errors.Join(err, <-done))
			backup := newPath(t)
			must.Do(t, os.WriteFile(backup, slices.Concat(first, rest), filePerm))
			wantIntact(t, backup, int64(before))
		})
	}
}

func TestSnapshotEnds(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, newPath(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Snapshot(ctx, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("Snapshot: %v, want: %v", err, context.Canceled)
	}
	must.Do(t, s.Close())
	if err := s.Snapshot(t.Context(), io.Discard); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("Snapshot of a closed store: %v, want: %v", err, storage.ErrUnavailable)
	}
}

// TestChunkKeepsNoMapping checks that the key after a chunk is a copy: a commit may replace the mapping
// before the next chunk.
func TestChunkKeepsNoMapping(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, newBigFile(t))
	_, next, err := s.readChunk(keyOf(0), false)
	must.Do(t, err)
	mapping := s.db.Info().Data
	if at := uintptr(unsafe.Pointer(&next[0])); !bytes.Equal(next, keyOf(chunkRecords)) || at-mapping < uintptr(s.mapped) {
		t.Errorf("the key %x is at %x, in the mapping at %x", next, at, mapping)
	}
}
