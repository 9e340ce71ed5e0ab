// Package bbolt is the embedded storage engine: a file of go.etcd.io/bbolt, which is
// called the tree, and a journal next to it. One process at a time can open them. A create
// is appended to the journal; a checkpoint moves it to the tree later. See
// docs/adr/0002-record-layout.md and docs/adr/0014-journal.md.
//
// The files of this package; each line uses only the lines above it:
//
//	system_*                                what differs between systems
//	pages.go, record.go                     the content of the database
//	file.go                                 its files, whether they are still the same, and the errors of opening them
//	grow.go, update.go                      a transaction, the space for it, and the outcome of a failed one
//	journal.go, checkpoint.go, commit.go    a create
//	read.go, check.go, snapshot.go          reading
//	background.go, stats.go                 background tasks of an open store
//	open.go, restore.go                     opening, closing, and replacing a database
package bbolt

import (
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage"
	"plantstore/storage/bbolt/journal"
)

// An Engine is a [storage.Engine] in one file. A plant whose name or tag is not valid
// UTF-8 is refused, since it could not be kept byte for byte (C2.14).
type Engine struct {
	db       *bolt.DB
	path     string   // of file as it was opened: the journal is next to this name
	file     *os.File // of db, to read the pages that a failed commit has left
	pageSize int64    // of the file
	id       string   // of the database
	logger   *slog.Logger

	readOnly bool

	// The following is used in a store that is open for writing.

	opened fs.FileInfo  // of file
	size   atomic.Int64 // of file, at least
	plants atomic.Int64 // that are stored, in the tree and pending

	committing sync.Mutex // held while a batch is committed

	journal       *journal.Journal // empty if the store has none, see hasJournal
	openedJournal fs.FileInfo
	replayed      int64         // plants that were only in the journal at the opening
	state         journal.State // of the journal, as stored in the database
	checkpointing sync.Mutex    // held during a checkpoint; guards state
	clean         atomic.Bool   // a snapshot has left the database clean
	noSpace       atomic.Bool   // the last checkpoint found no space

	updating sync.Mutex            // held from the beginning of a transaction until its outcome is in failed
	failed   atomic.Pointer[error] // why the database must no longer be written to

	checkpoints    atomic.Uint64
	checkpointTime atomic.Int64 // of all checkpoints in ns, pauses included

	abandoned atomic.Bool // bbolt holds locks that it will never release
}

var (
	_ storage.Engine      = (*Engine)(nil)
	_ storage.Runner      = (*Engine)(nil)
	_ storage.Counter     = (*Engine)(nil)
	_ storage.Checker     = (*Engine)(nil)
	_ storage.Snapshotter = (*Engine)(nil)
	_ storage.FileStatter = (*Engine)(nil)
)

func (e *Engine) writable() bool { return !e.readOnly }

func (e *Engine) hasJournal() bool { return e.journal.MaxBatch() > 0 }
