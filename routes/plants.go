package routes

import (
	"errors"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"plantstore/middleware"
	"plantstore/models"
	"plantstore/storage"
)

// plants answers the operation on plants.
type plants struct {
	store    storage.Store
	authored bool // it is told who creates a plant
	binding  newPlantBinding
	sent     *sync.Pool // of *models.NewPlant
}

func newPlants(options Options) plants {
	return plants{
		store:    options.Store,
		authored: options.Authored,
		binding:  newBinding(),
		sent:     &sync.Pool{New: func() any { return new(models.NewPlant) }},
	}
}

// create answers POST /plants (operationId createPlant): decode and validate,
// store, answer.
func (p plants) create(c *gin.Context) {
	sent := p.sent.Get().(*models.NewPlant) //nolint:forcetypeassert // nothing else is put there
	defer func() {
		*sent = models.NewPlant{} // it may be large
		p.sent.Put(sent)
	}()
	if err := c.ShouldBindWith(sent, p.binding); err != nil {
		middleware.Fail(c, err)
		return
	}
	plant, ctx, start := sent.Plant(), c.Request.Context(), time.Now()
	if p.authored {
		ctx = storage.WithAuthor(ctx, author(c))
	}
	err := p.store.Create(ctx, sent.ID.Value, plant)
	middleware.NotePlant(c, sent.ID.Value, time.Since(start))
	if err != nil {
		middleware.Fail(c, storeError(sent.ID.Value, err))
		return
	}
	middleware.OK(c, plant)
}

// author returns who creates a plant.
func author(c *gin.Context) storage.Author {
	return storage.Author{
		Subject: middleware.Subject(c), RequestID: middleware.AnswerID(c), Remote: c.Request.RemoteAddr,
	}
}

// storeError turns a refusal of the store into what the client can do about it
// (C1.5, C5.27, C5.28).
func storeError(id int64, err error) *models.Error {
	var exists *storage.ExistsError
	switch {
	case errors.As(err, &exists) && exists.Identical:
		return models.Errorf(models.CodeConflict, "id: %d is taken; the stored plant is identical to this one", id)
	case errors.As(err, &exists):
		return models.Errorf(models.CodeConflict, "id: %d is taken; the stored plant is different from this one", id)
	case errors.Is(err, storage.ErrUnknown):
		return models.NewError(models.CodeInternal, "it is not known whether the plant was stored; "+
			"send it again: if it was, the answer is that the id is taken by an identical plant").WithCause(err)
	case errors.Is(err, storage.ErrUnrecorded):
		return models.NewError(models.CodeInternal, "the plant was stored, but the server could not make sure that its audit log says so; "+
			"do not send it again, and report the X-Request-Id").WithCause(err)
	case errors.Is(err, storage.ErrNoSpace):
		return models.NewError(models.CodeInsufficientSpace,
			"the plant was not stored: there is no space left; try again later").WithCause(err)
	case errors.Is(err, storage.ErrOverloaded):
		return models.NewError(models.CodeUnavailable,
			"the plant was not stored: the server is overloaded; try again later").WithCause(err)
	case errors.Is(err, storage.ErrUnavailable):
		return models.NewError(models.CodeUnavailable,
			"the plant was not stored: the store is not available; try again later").WithCause(err)
	case errors.Is(err, storage.ErrCorrupt):
		return models.Errorf(models.CodeInternal, "the plant was not stored: id: %d is taken by a record that is damaged; "+
			"choose another id, and report the X-Request-Id", id).WithCause(err)
	default:
		return models.NewError(models.CodeInternal,
			"the plant was not stored: the store failed; try again, and report the X-Request-Id if it stays").WithCause(err)
	}
}
