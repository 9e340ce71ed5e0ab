package storagetest_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/storagetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestMemory runs the suite on the simplest engine there can be: it shows that
// the suite asks for nothing that only a real one has, and that the group commit
// keeps what the Store promises.
//
//nolint:paralleltest // the suite looks for goroutines that are left over
func TestMemory(t *testing.T) { storagetest.Run(t, fresh) }

func BenchmarkMemory(b *testing.B) { storagetest.Benchmark(b, fresh) }

func fresh(testing.TB) storagetest.Open {
	disk := &disk{plants: map[int64]models.Plant{}}
	return func() (storage.Store, error) {
		return &memory{GroupCommit: storage.NewGroupCommit(disk.commit, storage.Limits{}), disk: disk}, nil
	}
}

// A disk keeps the plants while no store is open.
type disk struct {
	mu     sync.RWMutex
	plants map[int64]models.Plant
}

func (d *disk) commit(batch []storage.Item) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, item := range batch {
		if plant, taken := d.plants[item.ID]; taken {
			batch[i].Existing = &plant
			continue
		}
		if item.Plant.Tag != nil {
			tag := *item.Plant.Tag
			item.Plant.Tag = &tag
		}
		d.plants[item.ID] = item.Plant
	}
	return nil
}

type memory struct {
	*storage.GroupCommit
	disk *disk
}

func (m *memory) Close() error {
	m.GroupCommit.Close()
	return nil
}

func (m *memory) Check(ctx context.Context, each func(storage.Record) error) (storage.Report, error) {
	if err := m.readable(ctx); err != nil {
		return storage.Report{}, err
	}
	report := storage.Report{Damage: []string{}}
	for record, err := range m.List(ctx, math.MinInt64) {
		if err == nil {
			err = report.Count(record, each)
		}
		if err != nil {
			return report, err
		}
	}
	return report, nil
}

// readable says whether a read may go on.
func (m *memory) readable(ctx context.Context) error { return cmp.Or(ctx.Err(), m.Ready()) }

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

func (m *memory) List(ctx context.Context, from int64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		m.disk.mu.RLock()
		plants := maps.Clone(m.disk.plants)
		m.disk.mu.RUnlock()
		for _, id := range slices.Sorted(maps.Keys(plants)) {
			err := m.readable(ctx)
			if id < from && err == nil {
				continue
			}
			if !yield(storage.Record{ID: id, Plant: plants[id]}, err) || err != nil {
				return
			}
		}
	}
}
