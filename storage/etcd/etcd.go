// Package etcd is the engine for several machines over an etcd cluster: any
// number of processes share the keys below one prefix. What is in them, and how
// a create gets there, is described in docs/adr/0010-engines-over-a-network.md.
package etcd

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"plantstore/models"
	"plantstore/storage"
)

// The bounds of a batch. A server takes 128 operations in one transaction unless
// told otherwise, of which one is that around the others, and 1.5 MiB in one
// request.
const (
	batchPlants = 127
	batchBytes  = 1 << 20
	maxValue    = 3<<19 - 4<<10 // bytes, of one plant that goes alone
	writers     = 2
)

// pageRecords bounds the memory of a page of [storage.Store.List]: each plant may
// be as large as a request.
const pageRecords = 256

// patience is how long the first attempt of a request may take. A member that
// has been cut off does not refuse, but keeps silent.
const patience = 400 * time.Millisecond

// pause is that between two attempts to read.
const pause = 50 * time.Millisecond

// A Store is a [storage.Store] in an etcd cluster.
type Store struct {
	client  *clientv3.Client
	keys    keys
	timeout time.Duration // of a commit or a read, with all attempts
	user    bool          // whether it logs in with a user and a password
	group   *storage.GroupCommit
	pulse   *storage.Pulse // nil if it is open for reading only
	once    sync.Once      // closes
	err     error          // of closing
}

var (
	_ storage.Store      = (*Store)(nil)
	_ storage.Observable = (*Store)(nil)
)

// Create is [storage.Store.Create]. A plant that is larger than a server takes in
// one request is refused, with an error of its own.
func (s *Store) Create(ctx context.Context, id int64, plant models.Plant) error {
	return s.group.Create(ctx, id, plant)
}

// CreateAll is [storage.Store.CreateAll].
func (s *Store) CreateAll(ctx context.Context, records []storage.Record) []error {
	return s.group.CreateAll(ctx, records)
}

// Get is [storage.Store.Get]. It is linearizable.
func (s *Store) Get(ctx context.Context, id int64) (models.Plant, error) {
	key := s.keys.of(id)
	answer, err := s.read(ctx, key)
	if err != nil {
		return models.Plant{}, err
	}
	if len(answer.Kvs) == 0 {
		return models.Plant{}, storage.ErrNotFound
	}
	r, err := decode(key, answer.Kvs[0].Value)
	return r.plant, err
}

// List is [storage.Store.List]. Each page is linearizable by itself.
func (s *Store) List(ctx context.Context, from int64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		for start := s.keys.of(from); start != ""; {
			answer, err := s.readPage(ctx, start)
			if err != nil {
				yield(storage.Record{}, err)
				return
			}
			for _, kv := range answer.Kvs {
				record, err := s.keys.record(kv)
				if ctx.Err() != nil {
					record, err = storage.Record{}, ctx.Err()
				}
				if !yield(record, err) || err != nil {
					return
				}
			}
			start = after(answer)
		}
	}
}

// readPage returns the first keys from start on.
func (s *Store) readPage(ctx context.Context, start string) (*clientv3.GetResponse, error) {
	return s.read(ctx, start, clientv3.WithRange(s.keys.end()), clientv3.WithLimit(pageRecords))
}

// after returns the key after those of a page, or "" if it was the last one.
func after(answer *clientv3.GetResponse) string {
	if !answer.More || len(answer.Kvs) == 0 {
		return ""
	}
	return string(answer.Kvs[len(answer.Kvs)-1].Key) + "\x00"
}

// read reads, and tries again while no member answers, which does no harm.
func (s *Store) read(ctx context.Context, key string, options ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	inTime, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	for patience := patience; ; patience = min(2*patience, s.timeout) {
		attempt, cancel := context.WithTimeout(inTime, patience)
		answer, err := s.client.Get(clientv3.WithRequireLeader(attempt), key, options...)
		cancel()
		switch {
		case err == nil:
			return answer, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !silent(err) || s.unknownUser(err) || s.client.Ctx().Err() != nil || !storage.Sleep(inTime, pause):
			return nil, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
		}
	}
}

// unknownUser reports whether the cluster asks for a user where there is none to
// tell. With one it asks as well, when the log-in has run out, which passes.
func (s *Store) unknownUser(err error) bool {
	return !s.user && errors.Is(err, rpctypes.ErrUserEmpty)
}

// Ready is [storage.Store.Ready].
func (s *Store) Ready() error {
	if err := s.group.Ready(); err != nil {
		return err
	}
	return s.pulse.Err()
}

// Stats is [storage.Observable].
func (s *Store) Stats() storage.Stats { return storage.Stats{Group: s.group.Stats()} }

// Stopped is [storage.Store.Stopped]. This engine never stops itself: what it
// cannot reach it can reach again.
func (s *Store) Stopped() <-chan struct{} {
	return s.group.Stopped()
}

// Check is [storage.Store.Check]: every record, by its checksum.
func (s *Store) Check(ctx context.Context, each func(storage.Record) error) (storage.Report, error) {
	report := storage.Report{Damage: []string{}}
	for start := s.keys.first(); start != ""; {
		answer, err := s.readPage(ctx, start)
		if err != nil {
			return report, err
		}
		for _, kv := range answer.Kvs {
			record, err := s.keys.record(kv)
			if err != nil {
				report.Add("%v", err)
				continue
			}
			if err := report.Count(record, each); err != nil {
				return report, err
			}
		}
		start = after(answer)
	}
	return report, nil
}

// Close is [storage.Store.Close].
func (s *Store) Close() error {
	s.once.Do(func() {
		if s.pulse != nil {
			s.pulse.Close()
		}
		s.group.Close()
		if err := s.client.Close(); !errors.Is(err, context.Canceled) { // which is its good end
			s.err = err
		}
	})
	return s.err
}
