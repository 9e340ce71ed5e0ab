package routes

import (
	"context"

	"github.com/gin-gonic/gin"

	"plantstore/middleware"
	"plantstore/models"
	"plantstore/storage"
)

// bodyFault returns the error of the demanded fault if it is that of a body, else nil. The
// decoder makes it of a body with that fault.
func (p plants) bodyFault(c *gin.Context) error {
	body := map[models.Code]string{models.CodeBadRequest: "", models.CodeUnprocessable: "{}"}
	text, demanded := body[middleware.DemandedFault(c).Code]
	if !demanded {
		return nil
	}
	middleware.MadeFault(c)
	return p.binding.decoder.Decode([]byte(text), new(models.NewPlant))
}

// storePlant creates a plant, or returns the error of the demanded fault if it is that of
// the store. Then the plant is stored only if the fault has [models.OutcomeStored].
func (p plants) storePlant(ctx context.Context, c *gin.Context, id int64, plant models.Plant) error {
	fault := middleware.DemandedFault(c)
	failure := storeFault(fault)
	if failure == nil || fault.Outcome == models.OutcomeStored {
		if err := p.store.Create(ctx, id, plant); err != nil || failure == nil {
			return err
		}
	}
	middleware.MadeFault(c)
	return failure
}

// storeFault returns the error of the store for a demanded fault, or nil.
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
