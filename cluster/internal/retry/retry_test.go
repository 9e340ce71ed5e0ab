package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/cluster/internal/retry"
	"plantstore/models"
	"plantstore/storage"
)

// A step is the outcome of one attempt of a commit.
type step func(ctx context.Context) error

// returns is an attempt that fails at once.
func returns(err error) step { return func(context.Context) error { return err } }

// usual is the policy of most tests.
func usual() retry.Policy { return retry.Policy{Timeout: 5 * time.Second, Attempt: time.Second} }

// hangs is an attempt that times out, with an unknown outcome.
func hangs(ctx context.Context) error {
	<-ctx.Done()
	return fmt.Errorf("%w: %w", storage.ErrUnknown, ctx.Err())
}

func TestCommit(t *testing.T) {
	t.Parallel()
	errRefused := errors.New("refused")
	done, refused := returns(nil), returns(errRefused)
	unavailable, unknown := returns(storage.ErrUnavailable), returns(storage.ErrUnknown)
	for name, test := range map[string]struct {
		steps []step // the last one is repeated
		want  error
		takes time.Duration // at most
	}{
		"at once":                      {[]step{done}, nil, 0},
		"refused":                      {[]step{refused}, errRefused, 0},
		"unavailable for a moment":     {[]step{unavailable, unavailable, done}, nil, time.Second},
		"unavailable for long":         {[]step{unavailable}, storage.ErrUnavailable, 5 * time.Second},
		"unavailable, refused":         {[]step{unavailable, refused}, errRefused, time.Second},
		"unknown, then found out":      {[]step{unknown, done}, nil, time.Second},
		"unknown for long":             {[]step{unknown}, storage.ErrUnknown, 5 * time.Second},
		"unknown, then out of reach":   {[]step{unknown, unavailable}, storage.ErrUnknown, 5 * time.Second},
		"unknown, then refused":        {[]step{unknown, refused}, storage.ErrUnknown, 5 * time.Second},
		"unknown, refused, found out":  {[]step{unknown, refused, done}, nil, time.Second},
		"hangs once":                   {[]step{hangs, done}, nil, 2 * time.Second},
		"hangs for long":               {[]step{hangs}, storage.ErrUnknown, 5 * time.Second},
		"out of reach, unknown, again": {[]step{unavailable, hangs, unavailable}, storage.ErrUnknown, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				attempts, tokens := 0, map[retry.Token]bool{}
				start := time.Now()
				err := usual().Commit(make([]storage.Item, 1), func(ctx context.Context, token retry.Token, _ []storage.Item) error {
					tokens[token] = true
					attempts++
					return test.steps[min(attempts, len(test.steps))-1](ctx)
				})
				checkClass(t, err, test.want)
				if took := time.Since(start); took > test.takes {
					t.Errorf("it took %v, want at most %v", took, test.takes)
				}
				if len(tokens) != 1 || tokens[retry.Token{}] || attempts < len(test.steps) {
					t.Errorf("%d attempts with %d tokens, want %d with one", attempts, len(tokens), len(test.steps))
				}
			})
		})
	}
}

// checkClass checks that err matches want and neither of the other classes.
func checkClass(t *testing.T, err, want error) {
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

// TestDropsOutcomes checks that an attempt begins without the outcomes that the last one
// has set before it failed, and that each commit has its own token.
func TestDropsOutcomes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tokens := map[retry.Token]bool{}
		for range 2 {
			batch, attempts := make([]storage.Item, 2), 0
			err := usual().Commit(batch, func(_ context.Context, token retry.Token, batch []storage.Item) error {
				tokens[token] = true
				if attempts++; attempts == 1 {
					batch[0].Existing, batch[1].Err = &models.Plant{}, errors.New("of the first attempt")
					return storage.ErrUnavailable
				}
				return nil
			})
			if err != nil || attempts != 2 || batch[0].Existing != nil || batch[1].Err != nil {
				t.Errorf("Commit = %v after %d attempts, with %+v", err, attempts, batch)
			}
		}
		if len(tokens) != 2 || tokens[retry.Token{}] {
			t.Errorf("the tokens of two commits are %v", tokens)
		}
	})
}

func TestRead(t *testing.T) {
	t.Parallel()
	errAway, errRefused := errors.New("away"), errors.New("refused")
	away := returns(errAway)
	for name, test := range map[string]struct {
		steps    []step // the last one is repeated
		want     error
		attempts int           // 0: any number
		takes    time.Duration // at most
	}{
		"at once":               {[]step{returns(nil)}, nil, 1, 0},
		"away for a moment":     {[]step{away, away, returns(nil)}, nil, 3, time.Second},
		"away for long":         {[]step{away}, errAway, 0, 5 * time.Second},
		"refused":               {[]step{returns(errRefused)}, errRefused, 1, 0},
		"away, then refused":    {[]step{away, returns(errRefused)}, errRefused, 2, time.Second},
		"away, then hangs":      {[]step{away, hangs}, errAway, 0, 5 * time.Second},
		"hangs, then responses": {[]step{hangs, returns(nil)}, nil, 2, 2 * time.Second},
		"hangs for long":        {[]step{hangs}, context.DeadlineExceeded, 4, 5 * time.Second}, // 1 s, 1.25 s, 1.56 s, the rest
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				attempts, start := 0, time.Now()
				err := usual().Read(t.Context(), func(ctx context.Context) error {
					attempts++
					return test.steps[min(attempts, len(test.steps))-1](ctx)
				}, func(err error) bool { return !errors.Is(err, errRefused) })
				if !errors.Is(err, test.want) || errors.Is(err, storage.ErrUnavailable) != (test.want != nil) {
					t.Errorf("Read = %v, want: %v", err, test.want)
				}
				if took := time.Since(start); took > test.takes || test.attempts != 0 && attempts != test.attempts {
					t.Errorf("%d attempts in %v, want %d in at most %v", attempts, took, test.attempts, test.takes)
				}
			})
		})
	}
}

// TestReadContextEnds checks that a read after the end of its context returns the error of
// the context alone.
func TestReadContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	attempts := 0
	for range 2 { // the second begins after the end
		err := usual().Read(ctx, func(ctx context.Context) error {
			attempts++
			cancel()
			return fmt.Errorf("read: %w", ctx.Err())
		}, func(error) bool { return true })
		if !errors.Is(err, context.Canceled) || errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("Read = %v, want: %v", err, context.Canceled)
		}
	}
	if attempts != 1 {
		t.Errorf("%d attempts, want none after the end", attempts)
	}
}
