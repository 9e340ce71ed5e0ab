package app

import (
	"context"
	"math"
	"time"

	"plantstore/models"
	"plantstore/storage"
)

// keepSeed keeps the plants with which an ephemeral server starts in memory: a reset does not need
// the file of --seed.
func (a *App) keepSeed(ctx context.Context) error {
	if !a.ephemeral() {
		return nil
	}
	a.seed = []storage.Record{}
	for record, err := range a.store.List(ctx, math.MinInt64) {
		if err != nil {
			return err
		}
		a.seed = append(a.seed, record)
	}
	return nil
}

// reset replaces all plants by the seed, and returns their number. It logs failures.
func (a *App) reset(ctx context.Context) (plants int64, err error) {
	if a.seed == nil {
		return 0, models.NewError(models.CodeForbidden, "only a server that was started with --ephemeral can be reset")
	}
	began := time.Now()
	if err := a.store.Reset(ctx, a.seed); err != nil {
		a.logger.ErrorContext(ctx, "reset failed", "cause", err.Error())
		return 0, err
	}
	a.creates.Clear()
	a.logger.InfoContext(ctx, "plants reset", "plants", len(a.seed), "duration_ms", float64(time.Since(began).Microseconds())/1000)
	return int64(len(a.seed)), nil
}
