package app

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"plantstore/storage"
)

// An emptyEngine has no plants.
type emptyEngine struct{ storage.Engine }

// Close implements [storage.Engine].
func (emptyEngine) Close() error { return nil }

// TestUncountedReset checks that a reset is logged as failed if the seed cannot be counted, and that
// it changes nothing.
func TestUncountedReset(t *testing.T) {
	t.Parallel()
	cause := errors.New("unreadable")
	seed := storage.New(emptyEngine{}, storage.Features{
		Count: func(context.Context) (int64, error) { return 0, cause },
	}, storage.Options{})
	var log bytes.Buffer
	a := &App{seed: seed, logger: slog.New(slog.NewTextHandler(&log, nil))} // a reset of its store, nil, would panic
	if plants, err := a.reset(t.Context()); plants != 0 || !errors.Is(err, cause) {
		t.Errorf("reset = %d, %v, want %v", plants, err, cause)
	}
	if want := `msg="reset failed" cause=unreadable`; !strings.Contains(log.String(), want) {
		t.Errorf("the log is %q, want %q", log.String(), want)
	}
	if err := seed.Close(); err != nil {
		t.Error(err)
	}
}
