package storage_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/models"
	"plantstore/storage"
)

func TestBatchIsWhatQueuedDuringTheLastCommit(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		start := time.Now()
		first := e.create(t.Context(), 7, "a")
		var queued []<-chan error
		for _, id := range []int64{3, -1, 9, 7, 0} {
			queued = append(queued, e.create(t.Context(), id, "a"))
		}
		wantNone(t, "first", first)
		e.commit(t, succeed, 7)
		want(t, "first", first)
		wantNone(t, "second", queued[0])
		e.commit(t, succeed, -1, 0, 3, 7, 9)
		for i, outcome := range queued {
			want(t, fmt.Sprintf("queued[%d]", i), outcome)
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("a create waited %v for company", waited)
		}
	})
}

func TestSameIDInOneBatch(t *testing.T) {
	t.Parallel()
	errEngine := errors.New("engine")
	stored := func(name string) func([]storage.Item) error {
		return func(batch []storage.Item) error {
			batch[0].Existing = &models.Plant{Name: name}
			return nil
		}
	}
	const created, identical, different, failed = "created", "identical", "different", "failed"
	for name, test := range map[string]struct {
		reply func([]storage.Item) error
		want  []string // of the creates of "a", "a" and "b", in this order
	}{
		"new":                 {succeed, []string{created, identical, different}},
		"taken by the first":  {stored("a"), []string{identical, identical, different}},
		"taken by the third":  {stored("b"), []string{different, different, identical}},
		"taken by another":    {stored("c"), []string{different, different, different}},
		"commit failed":       {fail(errEngine), []string{failed, failed, failed}},
		"taken, commit fails": {func(b []storage.Item) error { return errors.Join(stored("a")(b), errEngine) }, []string{identical, identical, different}},
		"item failed": {func(b []storage.Item) error {
			b[0].Err = errEngine
			return nil
		}, []string{failed, failed, failed}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, func(t *testing.T, e *testEngine) {
				before := e.create(t.Context(), 0, "")
				var outcomes []<-chan error
				for _, plant := range []string{"a", "a", "b"} {
					outcomes = append(outcomes, e.create(t.Context(), 5, plant))
				}
				other := e.create(t.Context(), 6, "other")
				e.commit(t, succeed, 0)
				want(t, "before", before)
				e.commit(t, test.reply, 5, 6)
				var got []string
				for _, outcome := range outcomes {
					got = append(got, kind(t, <-outcome, errEngine))
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("outcomes (-want +got):\n%s", diff)
				}
				if err := <-other; (err != nil) != strings.Contains(name, "commit fail") {
					t.Errorf("the other id: %v", err)
				}
			})
		})
	}
}

// kind names an outcome.
func kind(t *testing.T, err, errEngine error) string {
	t.Helper()
	var exists *storage.ExistsError
	switch {
	case err == nil:
		return "created"
	case errors.As(err, &exists) && exists.Identical:
		return "identical"
	case errors.As(err, &exists):
		return "different"
	case errors.Is(err, errEngine):
		return "failed"
	}
	return err.Error()
}

func TestWithdrawnWhileQueued(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		first := e.create(t.Context(), 1, "a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		withdrawn := e.create(ctx, 2, "a")
		alone := e.create(ctx, 3, "a")
		stays := e.create(t.Context(), 2, "b")
		time.Sleep(time.Second) // of the bubble's time
		want(t, "withdrawn", withdrawn, storage.ErrOverloaded, context.DeadlineExceeded)
		want(t, "alone", alone, storage.ErrOverloaded, context.DeadlineExceeded)
		e.commit(t, succeed, 1)
		want(t, "first", first)
		e.commit(t, succeed, 2)
		want(t, "stays", stays)
	})
}

func TestAllWithdrawn(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		first := e.create(t.Context(), 1, "a")
		ctx, cancel := context.WithCancel(t.Context())
		withdrawn := e.create(ctx, 2, "a")
		cancel()
		want(t, "withdrawn", withdrawn, storage.ErrOverloaded, context.Canceled)
		e.commit(t, succeed, 1)
		want(t, "first", first)
		next := e.create(t.Context(), 3, "a")
		e.commit(t, succeed, 3)
		want(t, "next", next)
	})
}

func TestContextEndsDuringCommit(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		ctx, cancel := context.WithCancel(t.Context())
		taken := e.create(ctx, 1, "a")
		cancel()
		want(t, "taken", taken, storage.ErrUnknown, context.Canceled)
		e.commit(t, succeed, 1)
		if err := e.store.Ready(); err != nil {
			t.Errorf("Ready: %v", err)
		}
		next := e.create(t.Context(), 2, "a") // must not get the outcome of the one before
		wantNone(t, "next", next)
		e.commit(t, fail(storage.ErrNoSpace), 2)
		want(t, "next", next, storage.ErrNoSpace)
	})
}

// TestTagIsTheCallers checks a caller that does not wait for the outcome, and reuses the memory
// of the tag.
func TestTagIsTheCallers(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		ctx, cancel := context.WithCancel(t.Context())
		tag, outcome := "fern", make(chan error, 1)
		go func() { outcome <- e.store.Create(ctx, 1, models.Plant{Name: "a", Tag: &tag}) }()
		synctest.Wait()
		cancel()
		want(t, "taken", outcome, storage.ErrUnknown)
		tag = "moss"
		if got := e.next(t)[0].Plant; got.Tag == nil || *got.Tag != "fern" {
			t.Errorf("the engine gets the tag %v, want fern", got.Tag)
		}
	})
}

func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	t.Run("plants", func(t *testing.T) {
		t.Parallel()
		run(t, func(t *testing.T, e *testEngine) {
			e.store.LimitQueue(2, math.MaxInt)
			for id := range int64(3) { // the first is dequeued at once
				wantNone(t, "create", e.create(t.Context(), id, ""))
			}
			want(t, "one too many", e.create(t.Context(), 3, ""), storage.ErrOverloaded)
			e.commit(t, succeed, 0)
			wantNone(t, "create", e.create(t.Context(), 4, ""))
			e.commit(t, succeed, 1, 2)
			e.commit(t, succeed, 4)
		})
	})
	t.Run("bytes", func(t *testing.T) {
		t.Parallel()
		run(t, func(t *testing.T, e *testEngine) {
			e.store.LimitQueue(math.MaxInt, 10)
			ctx, cancel := context.WithCancel(t.Context())
			wantNone(t, "larger than the bound", e.create(t.Context(), 0, strings.Repeat("x", 100)))
			wantNone(t, "8 of 10", e.create(ctx, 1, "12345678"))
			want(t, "11 of 10", e.create(t.Context(), 2, "123"), storage.ErrOverloaded)
			wantNone(t, "10 of 10", e.create(t.Context(), 3, "12"))
			cancel()
			synctest.Wait()
			wantNone(t, "10 of 10 again", e.create(t.Context(), 4, "12345678"))
			want(t, "11 of 10", e.create(t.Context(), 5, "1"), storage.ErrOverloaded)
			e.commit(t, succeed, 0)
			e.commit(t, succeed, 3, 4)
			wantNone(t, "larger than the bound", e.create(t.Context(), 6, strings.Repeat("x", 100)))
			e.commit(t, succeed, 6)
		})
	})
}

func TestBytesOfTagsCount(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		e.store.LimitQueue(math.MaxInt, 10)
		e.create(t.Context(), 0, "")
		e.create(t.Context(), 1, "1")
		tag := "1234567890"
		if err := e.store.Create(t.Context(), 2, models.Plant{Tag: &tag}); !errors.Is(err, storage.ErrOverloaded) {
			t.Errorf("Create = %v, want: %v", err, storage.ErrOverloaded)
		}
		e.commit(t, succeed, 0)
		e.commit(t, succeed, 1)
	})
}

func TestBatchIsBounded(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		limits  storage.Limits
		sizes   []int // of the plants 1, 2, ...
		batches [][]int64
	}{
		"plants":         {storage.Limits{BatchPlants: 2}, []int{1, 1, 1, 1, 1}, [][]int64{{1, 2}, {3, 4}, {5}}},
		"bytes":          {storage.Limits{BatchBytes: 10}, []int{5, 5, 1, 10, 1, 1}, [][]int64{{1, 2}, {3}, {4}, {5, 6}}},
		"a large one":    {storage.Limits{BatchBytes: 10}, []int{1, 50, 1, 50}, [][]int64{{1}, {2}, {3}, {4}}},
		"nothing at all": {storage.Limits{BatchBytes: 10}, []int{0, 10, 0}, [][]int64{{1, 2, 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runWith(t, test.limits, func(t *testing.T, e *testEngine) {
				outcomes := []<-chan error{e.create(t.Context(), 0, "")}
				for i, size := range test.sizes {
					outcomes = append(outcomes, e.create(t.Context(), int64(i+1), strings.Repeat("x", size)))
				}
				e.commit(t, succeed, 0)
				for _, ids := range test.batches {
					e.commit(t, succeed, ids...)
				}
				for _, outcome := range outcomes {
					want(t, "create", outcome)
				}
			})
		})
	}
}

func TestPanicStopsTheStore(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		taken := e.create(t.Context(), 1, "a")
		queued := e.create(t.Context(), 2, "a")
		e.commit(t, func([]storage.Item) error { panic("broken page") }, 1)
		want(t, "taken", taken, storage.ErrUnknown)
		want(t, "queued", queued, storage.ErrUnavailable)
		wantStopped(t, e, "broken page")
	})
}

func TestStop(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		taken := e.create(t.Context(), 1, "a")
		ctx, cancel := context.WithCancel(t.Context())
		withdrawn := e.create(ctx, 2, "a")
		queued := e.create(t.Context(), 2, "a")
		cancel()
		want(t, "withdrawn", withdrawn, storage.ErrOverloaded)
		e.commit(t, func([]storage.Item) error {
			e.stop(storage.ErrUnknown)
			e.stop(errors.New("not the first"))
			return storage.ErrUnknown
		}, 1)
		want(t, "taken", taken, storage.ErrUnknown)
		want(t, "queued", queued, storage.ErrUnavailable)
		wantStopped(t, e, storage.ErrUnknown.Error())
	})
}

// wantStopped checks that creates are refused, with the cause as text only: the refusal
// must not match it. The cause is logged once, and no later one.
func wantStopped(t *testing.T, e *testEngine, cause string) {
	t.Helper()
	synctest.Wait()
	if log := e.log.String(); strings.Count(log, "\n") != 1 || !strings.Contains(log, `level=ERROR msg="store stopped after a fault" cause="`) ||
		!strings.Contains(log, cause) {
		t.Errorf("the log has:\n%s", log)
	}
	for name, err := range map[string]error{
		"Ready":  e.store.Ready(),
		"Create": e.store.Create(t.Context(), 3, models.Plant{}),
	} {
		if !errors.Is(err, storage.ErrUnavailable) || errors.Is(err, storage.ErrUnknown) {
			t.Errorf("%s: %v, want: %v alone", name, err, storage.ErrUnavailable)
		} else if !strings.Contains(err.Error(), cause) {
			t.Errorf("%s: %v, without the cause %q", name, err, cause)
		}
	}
}

// TestSeveralWriters commits as many batches at a time as there are writers, and
// lets each have the same id.
func TestSeveralWriters(t *testing.T) {
	t.Parallel()
	runWith(t, storage.Limits{Writers: 2}, func(t *testing.T, e *testEngine) {
		first := e.create(t.Context(), 1, "a")
		second := e.create(t.Context(), 1, "b")
		third := e.create(t.Context(), 1, "b")
		e.commit(t, succeed, 1)
		e.commit(t, func(batch []storage.Item) error {
			batch[0].Existing = &models.Plant{Name: "a"}
			return nil
		}, 1)
		e.commit(t, fail(storage.ErrUnavailable), 1)
		want(t, "third", third, storage.ErrUnavailable)
		created := 0
		for _, outcome := range []<-chan error{first, second} {
			switch err := <-outcome; {
			case err == nil:
				created++
			case !errors.As(err, new(*storage.ExistsError)):
				t.Errorf("%v, want an ExistsError", err)
			}
		}
		if created != 1 {
			t.Errorf("%d creates succeeded, want 1", created)
		}
		last := e.create(t.Context(), 2, "c")
		closed := make(chan error, 1)
		go func() {
			closed <- e.store.Close()
		}()
		wantNone(t, "Close", closed)
		e.commit(t, succeed, 2)
		want(t, "last", last)
		want(t, "Close", closed)
	})
}
