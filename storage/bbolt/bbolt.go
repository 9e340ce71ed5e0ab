// Package bbolt is the embedded storage engine: a file of go.etcd.io/bbolt, which is
// called the tree, and a journal next to it. One process at a time can open them. A create
// is appended to the journal; a checkpoint moves it to the tree later. See
// docs/adr/0002-record-layout.md and docs/adr/0014-journal.md.
//
// The files of this package:
//
//	system_*                                what differs between systems
//	pages.go, record.go                     the content of the database
//	file.go                                 its files, whether they are still the same, and the errors of opening them
//	update.go, grow.go                      a transaction, the outcome of a failed one, and the space for it
//	journal.go, checkpoint.go, commit.go    a create
//	read.go, check.go                       reading, and copies
//	bbolt.go, open.go, restore.go           an open database, opening it, and replacing it
package bbolt

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage"
	"plantstore/storage/bbolt/journal"
)

// An Engine is a [storage.Engine] in one file. A plant whose name or tag is not valid
// UTF-8 is refused, since it could not be kept byte for byte (C2.14).
type Engine struct {
	db       *bolt.DB
	path     string   // of file as it was opened: the journal is next to this name
	file     *os.File // of db
	pageSize int64    // of the file
	logger   *slog.Logger
	writable bool

	journal       *journal.Journal // empty if the store has none, see hasJournal
	openedJournal fs.FileInfo
	state         atomic.Pointer[journal.State] // of the journal, as stored in the database

	abandoned atomic.Bool // bbolt holds locks that it will never release

	// The following is used in a store that is open for writing.

	opened   fs.FileInfo  // of file
	size     atomic.Int64 // of file, at least
	plants   atomic.Int64 // that are stored, in the tree and pending
	replayed int64        // plants that were only in the journal at the opening

	committing    sync.Mutex            // held while a batch is committed
	checkpointing sync.Mutex            // held from reading state to storing the next one
	updating      sync.Mutex            // held from the beginning of a transaction until its outcome is in failed
	failed        atomic.Pointer[error] // why the database must no longer be written to

	noSpace        atomic.Bool // the last checkpoint found no space
	checkpoints    atomic.Uint64
	checkpointTime atomic.Int64 // of all checkpoints in ns, pauses included
}

var (
	_ storage.Engine      = (*Engine)(nil)
	_ storage.Runner      = (*Engine)(nil)
	_ storage.Counter     = (*Engine)(nil)
	_ storage.Checker     = (*Engine)(nil)
	_ storage.Snapshotter = (*Engine)(nil)
	_ storage.FileStatter = (*Engine)(nil)
)

func (e *Engine) hasJournal() bool { return e.journal.MaxBatch() > 0 }

// Run implements [storage.Runner].
func (e *Engine) Run(ctx context.Context, stop func(cause error)) {
	var running sync.WaitGroup
	running.Go(func() { e.monitor(ctx, stop) })
	running.Go(func() { e.warm(ctx) })
	running.Go(func() { e.runCheckpoints(ctx) })
	running.Wait()
}

// monitor stops the store when one of its files is removed, replaced or truncated, also
// without a commit, and after a checkpoint that failed.
func (e *Engine) monitor(ctx context.Context, stop func(cause error)) {
	for sleep(ctx, time.Second) {
		if err := e.verifyFiles(); err != nil {
			_ = e.fatal(err, nil) // nothing is written any more, and Close keeps the journal
		}
		if cause := e.failed.Load(); cause != nil {
			stop(*cause)
			return
		}
	}
}

// warm reads the database into the cache of the operating system: a page fault, unlike a system
// call, may delay the entire process, see docs/adr/0014-journal.md. It uses at most half of the
// disk's time, and reads 4 GiB at most, since more could evict more useful pages.
func (e *Engine) warm(ctx context.Context) {
	chunk := make([]byte, 1<<20)
	for at, end := int64(0), min(e.size.Load(), 4<<30); at < end; at += int64(len(chunk)) {
		began := time.Now()
		if _, err := e.file.ReadAt(chunk, at); err != nil || !sleep(ctx, time.Since(began)) {
			return // an error is the end of the file, or for others to report
		}
	}
}

// sleep pauses for d. It returns false if ctx was done first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
