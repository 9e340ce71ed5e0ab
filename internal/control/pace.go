package control

import (
	"context"
	"sync/atomic"
	"time"

	"plantstore/models"
	"plantstore/storage"
)

const (
	// paceRecords is how many records are sent between two looks at the creates.
	paceRecords = 200
	// paceFactor is how many times as long as it worked a list pauses while
	// plants are being created: it takes a tenth of a processor then.
	paceFactor = 9
	// longestPause bounds a pause, should the list have waited for its client.
	longestPause = 100 * time.Millisecond
)

// A Counted store counts what is created in it one by one, so that a list of all
// plants can give way to that.
type Counted struct {
	storage.Store

	creates atomic.Int64
}

// Create is [storage.Store.Create].
func (c *Counted) Create(ctx context.Context, id int64, plant models.Plant) error {
	c.creates.Add(1)
	return c.Store.Create(ctx, id, plant)
}

// A pacer slows a list down while plants are being created.
type pacer struct {
	store *Counted
	seen  int64     // creates up to the last look
	since time.Time // of the last look
}

func newPacer(store *Counted) *pacer {
	return &pacer{store, store.creates.Load(), time.Now()}
}

// pause waits if plants were created since the last look, or until ctx ends.
func (p *pacer) pause(ctx context.Context) {
	creates := p.store.creates.Load()
	if creates != p.seen {
		timer := time.NewTimer(min(paceFactor*time.Since(p.since), longestPause))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
	p.seen, p.since = creates, time.Now()
}
