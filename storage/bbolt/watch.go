package bbolt

import (
	"context"
	"errors"
	"math"
	"time"

	"plantstore/storage"
)

// How often the open file is looked after. Reading a page of records a few times
// a second takes no time that anybody would miss.
const (
	watchPause = time.Second            // between looks at the file itself
	scrubPause = 100 * time.Millisecond // between pages of records
	scrubRest  = time.Hour              // between two passes through all records
)

// watch stops the store when its file is removed, replaced or cut short, also
// while there is nothing to commit.
func (s *Store) watch(ctx context.Context) {
	for pause(ctx, watchPause) {
		if _, err := s.intact(); err != nil {
			s.group.Stop(err)
			return
		}
	}
}

// scrub reads all records again and again, slowly, so that damage is found
// before anybody needs what is damaged.
func (s *Store) scrub(ctx context.Context) {
	for pause(ctx, scrubPause) {
		start, plants, damaged := time.Now(), int64(0), 0
		for next := keyOf(math.MinInt64); next != nil; {
			found, err := s.sweep(next)
			if errors.Is(err, storage.ErrUnavailable) {
				return
			}
			if err != nil {
				found.damage = append(found.damage, err)
			}
			for _, damage := range found.damage {
				s.logger.Error("the scrub found damage: run plantstore check, restore a backup",
					"database", s.file.Name(), "damage", damage.Error())
			}
			plants, damaged = plants+found.plants, damaged+len(found.damage)
			if next = found.after; !pause(ctx, scrubPause) {
				return
			}
		}
		s.logger.Info("scrubbed", "database", s.file.Name(), "plants", plants, "damaged", damaged, "took", time.Since(start))
		if !pause(ctx, scrubRest) {
			return
		}
	}
}

// pause waits, and reports whether to go on after that.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
