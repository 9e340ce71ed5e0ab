// Package etcd stores plants in an etcd cluster. Any number of processes share the keys below
// one prefix. docs/adr/0010-engines-over-a-network.md describes the records and how a create
// works.
package etcd

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"plantstore/cluster/internal/retry"
	"plantstore/models"
	"plantstore/storage"
)

// The limits of a batch. By default etcd accepts 128 operations in a transaction, one of
// which encloses the others, and 1.5 MiB in a request.
const (
	batchPlants = 127
	batchBytes  = 1 << 20
	maxValue    = 3<<19 - 4<<10 // bytes, of a plant, alone in a batch
	writers     = 2
)

// pageRecords limits the memory of a page of List: a plant may be as large as a request.
const pageRecords = 256

// firstAttempt limits the first attempt of a request, since a partitioned member does not
// respond.
const firstAttempt = 400 * time.Millisecond

// An Engine is a [storage.Engine] in an etcd cluster. It rejects a plant that exceeds
// etcd's limit of a request.
type Engine struct {
	target target
	keys   keys
	retry  retry.Policy

	mu     sync.Mutex
	client *clientv3.Client // see connected
	closed bool
}

var _ storage.Engine = (*Engine)(nil)

// Commit implements [storage.Engine].
func (e *Engine) Commit(batch []storage.Item) error { return e.retry.Commit(batch, e.insert) }

// Get implements [storage.Engine]. It is linearizable.
func (e *Engine) Get(ctx context.Context, id int64) (models.Plant, error) {
	key := e.keys.of(id)
	response, err := e.read(ctx, key)
	if err != nil {
		return models.Plant{}, err
	}
	if len(response.Kvs) == 0 {
		return models.Plant{}, storage.ErrNotFound
	}
	record, err := e.keys.record(response.Kvs[0])
	return record.Plant, err
}

// List implements [storage.Engine]. Each page is linearizable, but not the list. It continues
// after a corrupt record.
func (e *Engine) List(ctx context.Context, from int64, descending bool) iter.Seq2[storage.Record, error] {
	if descending {
		return e.listDescending(ctx, from)
	}
	return func(yield func(storage.Record, error) bool) {
		start := e.keys.of(from)
		for more := true; more; {
			page, err := e.read(ctx, start, clientv3.WithRange(e.keys.end()), clientv3.WithLimit(pageRecords))
			if err != nil {
				yield(storage.Record{}, err)
				return
			}
			for _, kv := range page.Kvs {
				if !yield(e.keys.record(kv)) {
					return
				}
			}
			if more = page.More && len(page.Kvs) > 0; more {
				start = string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
			}
		}
	}
}

// listDescending reads ranges of ids, each ascending: for a descending one etcd reads all records of
// the range, not only the page. Ranges grow while they have few records, and shrink if one has more
// than a page.
func (e *Engine) listDescending(ctx context.Context, from int64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		const factor = 16
		for top, width := uint64(from)^signBit, uint64(pageRecords); ; {
			bottom := top - min(top, width-1)
			page, err := e.read(ctx, e.keys.at(bottom), clientv3.WithRange(e.keys.at(top)+"\x00"), clientv3.WithLimit(pageRecords))
			if err != nil {
				yield(storage.Record{}, err)
				return
			}
			if page.More && width > 1 {
				width /= factor
				continue
			}
			for _, kv := range slices.Backward(page.Kvs) {
				if !yield(e.keys.record(kv)) {
					return
				}
			}
			if bottom == 0 {
				return
			}
			top = bottom - 1
			if len(page.Kvs) < pageRecords/factor && width <= math.MaxUint64/factor {
				width *= factor
			}
		}
	}
}

// read reads keys, and retries while no member responds.
func (e *Engine) read(ctx context.Context, key string, options ...clientv3.OpOption) (response *clientv3.GetResponse, err error) {
	err = e.retry.Read(ctx, func(ctx context.Context) error {
		client, err := e.connected()
		if err != nil {
			return err
		}
		response, err = client.Get(clientv3.WithRequireLeader(ctx), key, options...)
		return err
	}, func(err error) bool {
		lacksUser := errors.Is(err, rpctypes.ErrUserEmpty) && e.target.user == "" // with one, the login has expired
		return retriable(err) && !lacksUser && !errors.Is(err, errClosed)
	})
	return response, err
}

// Close implements [storage.Engine].
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	if e.client == nil {
		return nil
	}
	if err := e.client.Close(); !errors.Is(err, context.Canceled) { // Canceled is returned on success
		return err
	}
	return nil
}
