package storage_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/models"
	"plantstore/storage"
)

// A step is what one attempt of a commit does.
type step func(ctx context.Context) error

// returns is an attempt that fails at once.
func returns(err error) step { return func(context.Context) error { return err } }

// hangs is an attempt that ends with its time, and leaves open what it did.
func hangs(ctx context.Context) error {
	<-ctx.Done()
	return fmt.Errorf("%w: %w", storage.ErrUnknown, ctx.Err())
}

func TestRemote(t *testing.T) {
	t.Parallel()
	errRefused := errors.New("refused")
	done, refused := returns(nil), returns(errRefused)
	unavailable, unknown := returns(storage.ErrUnavailable), returns(storage.ErrUnknown)
	for name, test := range map[string]struct {
		steps []step // the last one is repeated
		want  error
		takes time.Duration // at most
	}{
		"at once":                       {[]step{done}, nil, 0},
		"refused":                       {[]step{refused}, errRefused, 0},
		"unavailable for a moment":      {[]step{unavailable, unavailable, done}, nil, time.Second},
		"unavailable for long":          {[]step{unavailable}, storage.ErrUnavailable, 5 * time.Second},
		"unavailable, refused":          {[]step{unavailable, refused}, errRefused, time.Second},
		"in doubt, then found out":      {[]step{unknown, done}, nil, time.Second},
		"in doubt for long":             {[]step{unknown}, storage.ErrUnknown, 5 * time.Second},
		"in doubt, then out of reach":   {[]step{unknown, unavailable}, storage.ErrUnknown, 5 * time.Second},
		"in doubt, then refused":        {[]step{unknown, refused}, storage.ErrUnknown, 5 * time.Second},
		"in doubt, refused, found out":  {[]step{unknown, refused, done}, nil, time.Second},
		"hangs once":                    {[]step{hangs, done}, nil, 2 * time.Second},
		"hangs for long":                {[]step{hangs}, storage.ErrUnknown, 5 * time.Second},
		"out of reach, in doubt, again": {[]step{unavailable, hangs, unavailable}, storage.ErrUnknown, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				attempts, requests := 0, map[storage.Request]bool{}
				r := storage.Remote{
					Insert: func(ctx context.Context, request storage.Request, _ []storage.Item) error {
						requests[request] = true
						attempts++
						return test.steps[min(attempts, len(test.steps))-1](ctx)
					},
					Timeout: 5 * time.Second, Patience: time.Second,
				}
				start := time.Now()
				checkVerdict(t, r.Commit(make([]storage.Item, 1)), test.want)
				if took := time.Since(start); took > test.takes {
					t.Errorf("it took %v, want at most %v", took, test.takes)
				}
				if len(requests) != 1 || attempts < len(test.steps) {
					t.Errorf("%d attempts with %d requests, want %d with one", attempts, len(requests), len(test.steps))
				}
			})
		})
	}
}

// checkVerdict checks that err matches want and none of the other verdicts.
func checkVerdict(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("Commit = %v, want: %v", err, want)
	}
	for _, other := range []error{storage.ErrUnknown, storage.ErrUnavailable} {
		if err != nil && !errors.Is(want, other) && errors.Is(err, other) {
			t.Errorf("Commit = %v, which matches %v, too", err, other)
		}
	}
}

func TestRemoteAttemptsGrow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var waited []string
		r := storage.Remote{
			Insert: func(ctx context.Context, _ storage.Request, _ []storage.Item) error {
				end, _ := ctx.Deadline()
				waited = append(waited, time.Until(end).String())
				return hangs(ctx)
			},
			Timeout: 4 * time.Second, Patience: time.Second,
		}
		_ = r.Commit(nil)
		if got := strings.Join(waited, " "); got != "1s 1.25s 1.5625s 152.5ms" {
			t.Errorf("the attempts were given %s", got)
		}
	})
}

// However many attempts fail at once, each gets some time.
func TestRemoteManyAttempts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		r := storage.Remote{
			Insert: func(ctx context.Context, _ storage.Request, _ []storage.Item) error {
				if err := ctx.Err(); err != nil {
					t.Fatalf("after %v an attempt gets no time: %v", time.Since(start), err)
				}
				if time.Since(start) < 59*time.Minute {
					return storage.ErrUnavailable
				}
				return nil
			},
			Timeout: time.Hour, Patience: time.Second,
		}
		if err := r.Commit(nil); err != nil {
			t.Errorf("Commit = %v", err)
		}
	})
}

func TestRequestsDiffer(t *testing.T) {
	t.Parallel()
	if a, b := storage.NewRequest(), storage.NewRequest(); a == b || a == (storage.Request{}) {
		t.Errorf("%x and %x", a, b)
	}
}

// TestSeveralWriters commits as many batches at a time as there are writers, and
// lets each have the same id.
func TestSeveralWriters(t *testing.T) {
	t.Parallel()
	run(t, storage.Limits{Writers: 2}, func(t *testing.T, e *engine) {
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
			e.group.Close()
			closed <- nil
		}()
		wantNone(t, "Close", closed)
		e.commit(t, succeed, 2)
		want(t, "last", last)
		want(t, "Close", closed)
	})
}
