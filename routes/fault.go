package routes

import (
	"context"

	"plantstore/middleware"
	"plantstore/models"
	"plantstore/storage"
)

// bodyFault returns the error of the fault on demand if a body causes it, else nil. It decodes a
// body that has the fault, so that the error is the real one.
func (p plants) bodyFault(request *middleware.Request) error {
	var body []byte
	switch request.Fault.Code {
	case models.CodeBadRequest:
	case models.CodeUnprocessable:
		body = []byte("{}")
	default:
		return nil
	}
	request.MadeFault = true
	return p.decoder.Decode(body, new(models.NewPlant))
}

// storePlant creates a plant, or returns the error of the fault on demand if the store causes it.
// Then the plant is stored only if the fault has [models.OutcomeStored].
func (p plants) storePlant(ctx context.Context, request *middleware.Request, id int64, plant models.Plant) error {
	failure := storeFault(request.Fault)
	if failure == nil {
		return p.store.Create(ctx, id, plant)
	}
	if request.Fault.Outcome == models.OutcomeStored {
		if err := p.store.Create(ctx, id, plant); err != nil {
			return err
		}
	}
	request.MadeFault = true
	return failure
}

// storeFault returns the error of the store for a fault on demand, or nil.
func storeFault(fault models.Fault) error {
	switch fault.Code {
	case models.CodeConflict:
		return &storage.ExistsError{Identical: fault.Outcome == models.OutcomeIdentical}
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
