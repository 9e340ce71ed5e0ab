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
	for name, test := range map[string]struct {
		stops, panics bool
		err, want     error // of the commit, and of the create in it
	}{
		"unknown outcome":    {stops: true, err: storage.ErrUnknown, want: storage.ErrUnknown},
		"not stored":         {stops: true, err: errHum, want: errHum},
		"between two writes": {stops: true},
		"panic":              {panics: true, want: storage.ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, func(t *testing.T, e *testEngine) {
				committed := e.create(t.Context(), 1, "a")
				ctx, cancel := context.WithCancel(t.Context())
				withdrawn := e.create(ctx, 2, "a")
				queued, bulk := e.create(t.Context(), 2, "a"), e.createAll(t.Context(), "a", 2, 3)
				cancel()
				want(t, "withdrawn", withdrawn, storage.ErrOverloaded)
				e.commit(t, func([]storage.Item) error {
					if test.panics {
						panic(errHum)
					}
					e.failStop.Stop(errHum)
					e.failStop.Stop(errors.New("not the first"))
					return test.err
				}, 1)
				if err := <-committed; !errors.Is(err, test.want) {
					t.Errorf("committed: %v, want: %v", err, test.want)
				}
				want(t, "queued", queued, storage.ErrUnavailable)
				for _, bulk := range []<-chan error{bulk, e.createAll(t.Context(), "a", 4, 5)} {
					want(t, "bulk", bulk, storage.ErrUnavailable)
					want(t, "bulk", bulk, storage.ErrUnavailable)
				}
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
	runWith(t, storage.Limits{BatchPlants: 2}, succeed, func(t *testing.T, e *testEngine) {
		e.lasting = time.Second // of the bubble's time
		var queued []<-chan error
		for id := range int64(4) {
			queued = append(queued, e.create(t.Context(), id, "a"))
		}
		closed := []<-chan error{background(e.store.Close), background(e.store.Close)}
		if err := e.store.Ready(); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("Ready: %v, want: %v", err, storage.ErrUnavailable)
		}
		want(t, "late", e.create(t.Context(), 9, "a"), storage.ErrUnavailable)
		e.commit(t, succeed, 0)
		e.commit(t, succeed, 1, 2)
		wantNone(t, "Close", closed[0])
		if e.ended || e.closed {
			t.Errorf("during a commit: background work ended: %t, engine closed: %t", e.ended, e.closed)
		}
		e.commit(t, succeed, 3)
		for _, outcome := range queued {
			want(t, "queued", outcome)
		}
		for _, closed := range closed {
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
		e.commit(t, func([]storage.Item) error { e.failStop.Stop(errHum); return nil }, 1)
		want(t, "queued", queued, storage.ErrUnavailable)
		wantStopped(t, e)
	})
}

// TestCloseAfterFault checks that Close ends after a fault although a commit does not.
func TestCloseAfterFault(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		outcome := e.create(t.Context(), 1, "a")
		e.failStop.Stop(errHum)
		began := time.Now()
		if err := e.store.Close(); err == nil || !strings.Contains(err.Error(), errHum.Error()) || time.Since(began) != 10*time.Second {
			t.Errorf("Close = %v after %v, want the fault after 10 s", err, time.Since(began))
		}
		e.commit(t, succeed, 1)
		want(t, "create", outcome)
	})
}

// wantBusy checks how many commits and resets are under way.
func (e *testEngine) wantBusy(t *testing.T, want int64) {
	t.Helper()
	synctest.Wait()
	if got := e.busy.Load(); got != want {
		t.Errorf("%d commits and resets are under way, want %d", got, want)
	}
}

// TestResetBetweenCommits checks that a reset waits for the commit under way, and that later creates
// wait for it.
func TestResetBetweenCommits(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		e.create(t.Context(), 1, "a")
		reset := e.reset(t.Context())
		later := e.create(t.Context(), 2, "a")
		for _, id := range []int64{1, 10, 2} {
			e.wantBusy(t, 1)
			e.commit(t, succeed, id)
		}
		want(t, "reset", reset)
		want(t, "later", later)
		if n := e.store.Stats(); n.Resets != 1 || n.Created != 2 {
			t.Errorf("statistics after a reset and 2 creates: %+v", n)
		}
	})
}

// TestResetWhoseContextEnds checks that a reset that waits can be canceled, and does not hold up
// later commits.
func TestResetWhoseContextEnds(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		ctx, cancel := context.WithCancel(t.Context())
		e.create(t.Context(), 1, "a")
		waiting, behind := e.reset(ctx), e.reset(ctx)
		cancel()
		want(t, "waiting", waiting, context.Canceled)
		want(t, "behind", behind, context.Canceled)
		e.commit(t, succeed, 1)
		reset := e.reset(t.Context())
		e.commit(t, succeed, 10)
		want(t, "reset", reset)
	})
}

// TestResetMeetsClose checks that a reset that waits for a commit is refused when the store is
// closed, and a later one, too.
func TestResetMeetsClose(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		e.create(t.Context(), 1, "a")
		waiting := e.reset(t.Context())
		closed := background(e.store.Close)
		behind := e.reset(t.Context())
		e.commit(t, succeed, 1)
		want(t, "Close", closed)
		for _, reset := range []<-chan error{waiting, behind, e.reset(t.Context())} {
			want(t, "reset", reset, storage.ErrUnavailable)
		}
	})
}

// TestFailedReset checks that the store continues after a reset that fails, unless the engine
// has stopped it.
func TestFailedReset(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		failed := e.reset(t.Context())
		e.commit(t, fail(storage.ErrNoSpace), 10)
		want(t, "failed", failed, storage.ErrNoSpace)
		e.createNow(t, 1, succeed)
		panicked, behind := e.reset(t.Context()), e.reset(t.Context())
		e.commit(t, func([]storage.Item) error { panic(errHum) }, 10)
		want(t, "panicked", panicked, storage.ErrUnknown)
		want(t, "behind", behind, storage.ErrUnavailable)
		wantStopped(t, e)
		if n := e.store.Stats(); n.Resets != 0 || e.store.Fault() == nil {
			t.Errorf("%d resets are counted, want none; fault: %v", n.Resets, e.store.Fault())
		}
	})
}
