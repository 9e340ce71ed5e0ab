package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"
)

// TestBoundedShutdown checks that a command that ignores its context ends some time after a
// signal, and its temporary directory is removed.
func TestBoundedShutdown(t *testing.T) {
	t.Parallel()
	release, waits := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-waits
		cancel()
	}()
	dir := t.TempDir()
	s := newShutdown()
	err := s.limit(ctx, func() error {
		s.temporary.Store(&dir)
		close(waits)
		<-release
		return nil
	})
	if _, missing := os.Stat(dir); !errors.Is(err, errInterrupted) || !errors.Is(missing, fs.ErrNotExist) {
		t.Errorf("%v, stat %s: %v", err, dir, missing)
	}
	close(release)
}
