package faults

import (
	"context"
	"time"

	"plantstore/middleware"
	"plantstore/models"
	"plantstore/routes"
	"plantstore/storage"
)

// verify returns next, which fails with forbidden if a request demands that.
func verify(next middleware.Verify, forbidden error) middleware.Verify {
	return func(ctx context.Context, token string) (subject string, err error) {
		if cause(ctx, models.CodeForbidden) {
			return "", forbidden
		}
		return next(ctx, token)
	}
}

// A limiter makes the requests wait that demand it. The other limiter may be nil.
type limiter struct{ middleware.Limiter }

func (l limiter) Take(ctx context.Context, client string) time.Duration {
	switch {
	case cause(ctx, models.CodeTooManyRequests):
		return time.Second
	case l.Limiter == nil:
		return 0
	}
	return l.Limiter.Take(ctx, client)
}

func (l limiter) Rate() string {
	if l.Limiter == nil {
		return exampleRate
	}
	return l.Limiter.Rate()
}

// A store fails as requests demand, and otherwise creates plants. With [OutcomeStored], it creates the
// plant and fails.
type store struct{ routes.Store }

func (s store) Create(ctx context.Context, id int64, plant models.Plant) error {
	d := demandOf(ctx)
	if d == nil {
		return s.Store.Create(ctx, id, plant)
	}
	failure := d.ofStore()
	if failure == nil || d.Outcome == OutcomeStored {
		if err := s.Store.Create(ctx, id, plant); err != nil || failure == nil {
			return err
		}
	}
	d.caused = true
	return failure
}

func (f Fault) ofStore() error {
	switch f.Code {
	case models.CodeConflict:
		return &storage.ExistsError{Identical: f.Outcome == OutcomeIdentical}
	case models.CodeUnprocessable: // the plant is valid
		return models.NewDecoder(2).Decode([]byte("{}"), new(models.NewPlant))
	case models.CodeInternal:
		return storage.ErrUnknown
	case models.CodeUnavailable:
		return storage.ErrOverloaded
	case models.CodeInsufficientSpace:
		return storage.ErrNoSpace
	default:
		return nil
	}
}
