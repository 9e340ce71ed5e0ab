package storagetest_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"plantstore/internal/watchdog"
	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/storagetest"
)

func TestMain(m *testing.M) { watchdog.Main(m) }

// TestMemory runs the suite on the simplest possible engine: the suite requires nothing that
// only a real engine has, and the Store keeps its promises.
//
//nolint:paralleltest // the suite checks for leaked goroutines
func TestMemory(t *testing.T) { storagetest.Run(t, fresh) }

func fresh(testing.TB) storagetest.Open {
	disk := &disk{plants: map[int64]models.Plant{}}
	return func() (storagetest.Store, error) {
		return storage.New(&memory{disk: disk}, nil, storage.Limits{}, storage.Options{}), nil
	}
}

// A disk keeps the plants while no store is open.
type disk struct {
	mu     sync.RWMutex
	plants map[int64]models.Plant
}

func (d *disk) commit(batch []storage.Item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, item := range batch {
		if plant, taken := d.plants[item.ID]; taken {
			batch[i].Existing = &plant
			continue
		}
		d.plants[item.ID] = item.Plant
	}
}

type memory struct {
	disk   *disk
	closed atomic.Bool
}

func (m *memory) Commit(batch []storage.Item) error {
	m.disk.commit(batch)
	return nil
}

func (m *memory) Close() error {
	m.closed.Store(true)
	return nil
}

// readable returns nil while a read may continue.
func (m *memory) readable(ctx context.Context) error {
	if m.closed.Load() {
		return storage.ErrUnavailable
	}
	return ctx.Err()
}

func (m *memory) Get(ctx context.Context, id int64) (models.Plant, error) {
	if err := m.readable(ctx); err != nil {
		return models.Plant{}, err
	}
	m.disk.mu.RLock()
	defer m.disk.mu.RUnlock()
	plant, ok := m.disk.plants[id]
	if !ok {
		return models.Plant{}, fmt.Errorf("id %d: %w", id, storage.ErrNotFound)
	}
	return plant, nil
}

func (m *memory) List(ctx context.Context, from int64, descending bool) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		if err := m.readable(ctx); err != nil {
			yield(storage.Record{}, err)
			return
		}
		m.disk.mu.RLock()
		plants := maps.Clone(m.disk.plants)
		m.disk.mu.RUnlock()
		ids := slices.Sorted(maps.Keys(plants))
		if descending {
			slices.Reverse(ids)
		}
		for _, id := range ids {
			err := m.readable(ctx)
			if (id < from != descending) && id != from && err == nil {
				continue
			}
			if !yield(storage.Record{ID: id, Plant: plants[id]}, err) || err != nil {
				return
			}
		}
	}
}
