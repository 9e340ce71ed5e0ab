package storage_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/models"
	"plantstore/storage"
)

// TestFatalError checks that a FatalError stops the store before any create returns. Without an
// outcome, the batch gets the error of later creates.
func TestFatalError(t *testing.T) {
	t.Parallel()
	errDisk := errors.New("disk gone")
	for name, test := range map[string]struct {
		outcome, want error
	}{
		"outcome":    {storage.ErrUnknown, storage.ErrUnknown},
		"no outcome": {nil, storage.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, func(t *testing.T, e *testEngine) {
				committed := e.create(t.Context(), 1, "a")
				queued := e.create(t.Context(), 2, "a")
				e.commit(t, fail(&storage.FatalError{Cause: errDisk, Outcome: test.outcome}), 1)
				want(t, "committed", committed, test.want)
				want(t, "queued", queued, storage.ErrUnavailable)
				wantStopped(t, e, "disk gone")
				<-e.store.Stopped()
			})
		})
	}
}

// TestCloseOrder checks that Close lets the queue drain, then the background work end, then the
// engine close.
func TestCloseOrder(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		e.lasting = time.Second // of the bubble's time
		first := e.create(t.Context(), 1, "a")
		closed := make(chan error, 1)
		go func() { closed <- e.store.Close() }()
		synctest.Wait()
		if e.ended || e.closed {
			t.Errorf("while a commit is under way: background ended: %t, engine closed: %t", e.ended, e.closed)
		}
		e.commit(t, succeed, 1)
		want(t, "first", first)
		if err := <-closed; err != nil || !e.ended || !e.closed || e.late {
			t.Errorf("Close: %v, background ended: %t, engine closed: %t, before that: %t", err, e.ended, e.closed, e.late)
		}
	})
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	e := new(testEngine)
	s := storage.New(e, storage.Limits{}, storage.Options{ReadOnly: true})
	if err := s.Create(t.Context(), 1, models.Plant{}); !errors.Is(err, storage.ErrUnavailable) || !strings.Contains(err.Error(), "reading only") {
		t.Errorf("Create = %v, want: %v", err, storage.ErrUnavailable)
	}
	if err := s.Ready(); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("Ready = %v, want: %v", err, storage.ErrUnavailable)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if e.ended {
		t.Error("the background work has run")
	}
}

// A listEngine has plants to read, and no optional ability.
type listEngine struct {
	storage.Engine // nil: no test writes

	records []storage.Record
	err     error // after them
}

// List implements [storage.Engine].
func (e *listEngine) List(context.Context, int64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		for _, r := range e.records {
			if !yield(r, nil) {
				return
			}
		}
		if e.err != nil {
			yield(storage.Record{}, e.err)
		}
	}
}

// Close implements [storage.Engine].
func (e *listEngine) Close() error { return nil }

// TestMissingAbilities checks that the store does what the engine cannot, or returns an error.
func TestMissingAbilities(t *testing.T) {
	t.Parallel()
	e := &listEngine{records: make([]storage.Record, 3)}
	s := storage.New(e, storage.Limits{}, storage.Options{})
	defer func() { _ = s.Close() }()
	if n, err := s.Count(t.Context()); n != 3 || err != nil {
		t.Errorf("Count = %d, %v, want 3", n, err)
	}
	e.err = storage.ErrCorrupt
	if _, err := s.Count(t.Context()); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("Count = %v, want: %v", err, storage.ErrCorrupt)
	}
	report, err := s.Check(t.Context(), nil)
	if err != nil || report.Plants != 3 || len(report.Corruption) != 1 {
		t.Errorf("Check = %+v, %v, want 3 plants and a finding", report, err)
	}
	if err := s.Snapshot(t.Context(), io.Discard); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Snapshot = %v, want: %v", err, errors.ErrUnsupported)
	}
	if file := s.Stats().File; file != nil {
		t.Errorf("statistics of a file: %+v, want none", file)
	}
}

func TestCloseCommitsWhatIsQueued(t *testing.T) {
	t.Parallel()
	runWith(t, storage.Limits{BatchPlants: 2}, func(t *testing.T, e *testEngine) {
		var queued []<-chan error
		for id := range int64(4) {
			queued = append(queued, e.create(t.Context(), id, "a"))
		}
		closed := make(chan error, 2)
		for range cap(closed) {
			go func() {
				closed <- e.store.Close()
			}()
		}
		synctest.Wait()
		if err := e.store.Ready(); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("Ready: %v, want: %v", err, storage.ErrUnavailable)
		}
		want(t, "late", e.create(t.Context(), 9, "a"), storage.ErrUnavailable)
		e.commit(t, succeed, 0)
		e.commit(t, succeed, 1, 2)
		wantNone(t, "Close", closed)
		e.commit(t, succeed, 3)
		for _, outcome := range queued {
			want(t, "queued", outcome)
		}
		want(t, "Close", closed)
		want(t, "Close", closed)
	})
}

func TestStopWhileClosing(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		e.create(t.Context(), 1, "a")
		queued := e.create(t.Context(), 2, "a")
		go func() { _ = e.store.Close() }()
		synctest.Wait()
		e.commit(t, func([]storage.Item) error {
			e.stop(errors.New("disk gone"))
			return nil
		}, 1)
		want(t, "queued", queued, storage.ErrUnavailable)
		wantStopped(t, e, "disk gone")
	})
}

// TestCloseAfterFault checks that Close ends after a fault although a commit does not.
func TestCloseAfterFault(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		outcome := e.create(t.Context(), 1, "a")
		e.stop(errors.New("broken"))
		began := time.Now()
		if err := e.store.Close(); err == nil || !strings.Contains(err.Error(), "broken") || time.Since(began) != 10*time.Second {
			t.Errorf("Close = %v after %v, want the fault after 10 s", err, time.Since(began))
		}
		e.commit(t, succeed, 1)
		want(t, "create", outcome, nil)
	})
}
