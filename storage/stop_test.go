package storage_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/models"
	"plantstore/storage"
)

// TestStop checks that each kind of fault stops the store before any create returns: creates in
// the batch get the outcome of their commit, queued and later ones ErrUnavailable.
func TestStop(t *testing.T) {
	t.Parallel()
	fatal := func(outcome error) func(*testEngine, []storage.Item) error {
		return func(*testEngine, []storage.Item) error { return &storage.FatalError{Cause: errHum, Outcome: outcome} }
	}
	for name, test := range map[string]struct {
		commit func(e *testEngine, batch []storage.Item) error
		want   error
	}{
		"fatal, unknown outcome": {fatal(storage.ErrUnknown), storage.ErrUnknown},
		"fatal, not stored":      {fatal(nil), storage.ErrUnavailable},
		"panic":                  {func(*testEngine, []storage.Item) error { panic(errHum) }, storage.ErrUnknown},
		"background work": {func(e *testEngine, _ []storage.Item) error {
			e.stop(errHum)
			e.stop(errors.New("not the first"))
			return nil
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, func(t *testing.T, e *testEngine) {
				committed := e.create(t.Context(), 1, "a")
				ctx, cancel := context.WithCancel(t.Context())
				withdrawn := e.create(ctx, 2, "a")
				queued := e.create(t.Context(), 2, "a")
				cancel()
				want(t, "withdrawn", withdrawn, storage.ErrOverloaded)
				e.commit(t, func(batch []storage.Item) error { return test.commit(e, batch) }, 1)
				if err := <-committed; !errors.Is(err, test.want) || test.want == nil && err != nil {
					t.Errorf("committed: %v, want: %v", err, test.want)
				}
				want(t, "queued", queued, storage.ErrUnavailable)
				wantStopped(t, e)
				<-e.store.Stopped()
			})
		})
	}
}

// wantStopped checks that creates are refused, with the cause errHum as text only: the refusal
// must not match it. The cause is logged once, and no later one.
func wantStopped(t *testing.T, e *testEngine) {
	t.Helper()
	synctest.Wait()
	if log := e.log.String(); strings.Count(log, "\n") != 1 || !strings.Contains(log, `level=ERROR msg="store stopped after a fault" cause="`) ||
		!strings.Contains(log, errHum.Error()) {
		t.Errorf("the log has:\n%s", log)
	}
	for name, err := range map[string]error{
		"Ready":  e.store.Ready(),
		"Create": e.store.Create(t.Context(), 3, models.Plant{}),
	} {
		if !errors.Is(err, storage.ErrUnavailable) || errors.Is(err, errHum) || !strings.Contains(err.Error(), errHum.Error()) {
			t.Errorf("%s: %v, want: %v because %v", name, err, storage.ErrUnavailable, errHum)
		}
	}
}

// TestClose checks that Close refuses later creates, commits what is queued, ends the background
// work, and closes the engine, in this order. A second call waits as well.
func TestClose(t *testing.T) {
	t.Parallel()
	runWith(t, storage.Limits{BatchPlants: 2}, func(t *testing.T, e *testEngine) {
		e.lasting = time.Second // of the bubble's time
		var queued []<-chan error
		for id := range int64(4) {
			queued = append(queued, e.create(t.Context(), id, "a"))
		}
		closed := make(chan error, 2)
		for range cap(closed) {
			go func() { closed <- e.store.Close() }()
		}
		synctest.Wait()
		if err := e.store.Ready(); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("Ready: %v, want: %v", err, storage.ErrUnavailable)
		}
		want(t, "late", e.create(t.Context(), 9, "a"), storage.ErrUnavailable)
		e.commit(t, succeed, 0)
		e.commit(t, succeed, 1, 2)
		wantNone(t, "Close", closed)
		if e.ended || e.closed {
			t.Errorf("during a commit: background work ended: %t, engine closed: %t", e.ended, e.closed)
		}
		e.commit(t, succeed, 3)
		for _, outcome := range queued {
			want(t, "queued", outcome)
		}
		for range cap(closed) {
			if err := <-closed; err != nil || !e.ended || !e.closed || e.late {
				t.Errorf("Close: %v, background work ended: %t, engine closed: %t, before that: %t", err, e.ended, e.closed, e.late)
			}
		}
	})
}

func TestStopWhileClosing(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		e.create(t.Context(), 1, "a")
		queued := e.create(t.Context(), 2, "a")
		go func() { _ = e.store.Close() }()
		e.commit(t, func([]storage.Item) error { e.stop(errHum); return nil }, 1)
		want(t, "queued", queued, storage.ErrUnavailable)
		wantStopped(t, e)
	})
}

// TestCloseAfterFault checks that Close ends after a fault although a commit does not.
func TestCloseAfterFault(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		outcome := e.create(t.Context(), 1, "a")
		e.stop(errHum)
		began := time.Now()
		if err := e.store.Close(); err == nil || !strings.Contains(err.Error(), errHum.Error()) || time.Since(began) != 10*time.Second {
			t.Errorf("Close = %v after %v, want the fault after 10 s", err, time.Since(began))
		}
		e.commit(t, succeed, 1)
		want(t, "create", outcome)
	})
}
