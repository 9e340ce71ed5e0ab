package audit_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"plantstore/internal/audit"
	"plantstore/storage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A disk is a target in memory that may fail.
type disk struct {
	mu     sync.Mutex
	text   bytes.Buffer
	space  int   // free space in bytes; negative: unlimited
	fault  error // of a write beyond space
	synced int   // length of text at the last sync
	sync   error // of Sync
	close  error // of Close
	closed bool
	gone   bool          // returned by Removed
	held   chan struct{} // if not nil: writes wait until it is closed
}

func newDisk() *disk { return &disk{space: -1} }

// Write implements [io.Writer].
func (d *disk) Write(p []byte) (int, error) {
	if d.held != nil {
		<-d.held
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return 0, errors.New("written after it was closed")
	}
	if d.space < 0 || len(p) <= d.space {
		if d.space >= 0 {
			d.space -= len(p)
		}
		return d.text.Write(p)
	}
	n, _ := d.text.Write(p[:d.space])
	d.space = 0
	return n, d.fault
}

// Sync implements [audit.Target].
func (d *disk) Sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.synced = d.text.Len()
	return d.sync
}

// Removed implements [audit.Target].
func (d *disk) Removed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.gone
}

// Close implements [io.Closer].
func (d *disk) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	return d.close
}

// String returns the written lines.
func (d *disk) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.text.String()
}

// set changes space and fault.
func (d *disk) set(space int, ofSync error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.space, d.sync = space, ofSync
}

// remove makes Removed return true.
func (d *disk) remove() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gone = true
}

// A fakeEngine commits with outcomes by id, nil if there is none.
type fakeEngine struct {
	storage.Engine // nil: no test reads

	outcomes map[int64]error
	mu       sync.Mutex
	stored   []int64
	closed   bool
}

// Commit implements [storage.Engine].
func (f *fakeEngine) Commit(batch []storage.Item) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, item := range batch {
		if batch[i].Err = f.outcomes[item.ID]; batch[i].Err == nil {
			f.stored = append(f.stored, item.ID)
		}
	}
	return nil
}

// Close implements [storage.Engine].
func (f *fakeEngine) Close() error { f.closed = true; return nil }

// newStore returns a store that records its creates in log.
func newStore(fake *fakeEngine, log *audit.Log) *storage.Store {
	s := storage.New(fake, storage.Features{
		Stage:   func(context.Context, iter.Seq2[storage.Record, error]) error { return nil },
		Replace: func() error { return nil },
	}, storage.Options{Ephemeral: true})
	s.RecordWith(log)
	return s
}
