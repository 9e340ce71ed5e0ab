package bbolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plantstore/models"
	"plantstore/storage"
)

// createLarge creates plants of a MiB, as one bulk.
func createLarge(t *testing.T, s *testStore, from, to int64) {
	t.Helper()
	var records []storage.Record
	for id := from; id < to; id++ {
		records = append(records, storage.Record{ID: id, Plant: models.Plant{Name: strings.Repeat("a", 1<<20)}})
	}
	for _, err := range s.CreateAll(t.Context(), records) {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestSnapshotDoesNotBlockCreate checks that a snapshot is the state of the store when it
// began, however slow its reader is. Creates do not wait for that reader, even where the file
// grows beyond what bbolt would have mapped.
func TestSnapshotDoesNotBlockCreate(t *testing.T) {
	t.Parallel()
	for _, before := range []int64{0, 1, 70} {
		t.Run(fmt.Sprintf("%d MiB", before), func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			s := mustOpen(t, path)
			createLarge(t, s, 0, before)
			out, in := io.Pipe()
			done := make(chan error, 1)
			go func() {
				err := s.Snapshot(t.Context(), in)
				done <- errors.Join(err, in.CloseWithError(err))
			}()
			first := make([]byte, 1)
			if _, err := io.ReadFull(out, first); err != nil {
				t.Fatal(err)
			}
			createLarge(t, s, before, before+80)
			rest, err := io.ReadAll(out)
			if err := errors.Join(err, <-done); err != nil {
				t.Fatal(err)
			}
			backup := newPath(t)
			if err := os.WriteFile(backup, slices.Concat(first, rest), filePerm); err != nil {
				t.Fatal(err)
			}
			if plants, err := checkFile(t, backup); err != nil || plants != before {
				t.Errorf("the copy has %d plants, %v, want %d", plants, err, before)
			}
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
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Snapshot(t.Context(), io.Discard); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("Snapshot of a closed store: %v, want: %v", err, storage.ErrUnavailable)
	}
}

// backUp writes a snapshot of the closed store at path to a file.
func backUp(t *testing.T, path string) (backup string) {
	t.Helper()
	s, err := openStore(storage.Options{ReadOnly: true}, path)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := errors.Join(s.Snapshot(t.Context(), &text), s.Close()); err != nil {
		t.Fatal(err)
	}
	backup = filepath.Join(t.TempDir(), "backup.db")
	if err := os.WriteFile(backup, text.Bytes(), filePerm); err != nil {
		t.Fatal(err)
	}
	return backup
}
