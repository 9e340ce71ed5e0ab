package faults

import (
	"context"

	"plantstore/models"
	"plantstore/storage"
)

// A Creator creates plants, as Create of [storage.Store] does.
type Creator interface {
	Create(ctx context.Context, id int64, plant models.Plant) error
}

// NewStore returns a store that fails as requests demand, and otherwise creates plants in next. With
// [OutcomeStored], it creates the plant and fails.
func NewStore(next Creator) Creator { return store{next} }

type store struct{ Creator }

func (s store) Create(ctx context.Context, id int64, plant models.Plant) error {
	d := demandOf(ctx)
	if d == nil {
		return s.Creator.Create(ctx, id, plant)
	}
	failure := d.ofStore()
	if failure == nil || d.Outcome == OutcomeStored {
		if err := s.Creator.Create(ctx, id, plant); err != nil || failure == nil {
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
