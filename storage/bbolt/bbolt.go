// Package bbolt is the embedded storage engine. It keeps all plants in one file of
// go.etcd.io/bbolt. One process at a time can open the file for writing. A commit is one bbolt
// transaction. docs/adr/0002-record-layout.md describes the file.
//
// The files of this package:
//
//	errors.go           the errors of opening a file, and of a full disk
//	system_*            platform-specific code
//	record.go, pages.go the content of the file
//	bbolt.go            an open database, and its transactions
//	grow.go             space for a transaction
//	commit.go           a create, the transaction that stores it, and the outcome if that fails
//	read.go             reading, copies, and verification
//	open.go, restore.go opening and replacing a database
//
// A file calls only those above it.
package bbolt

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage"
)

// An Engine is a [storage.FileEngine]. A plant whose name or tag is not valid
// UTF-8 is refused, since it could not be kept byte for byte (C2.14).
type Engine struct {
	db       *bolt.DB
	path     string   // of file as it was opened
	file     *os.File // of db
	pageSize int64    // of the file
	logger   *slog.Logger
	writable bool
	failStop *storage.FailStop
	running  atomic.Int64 // transactions; after a fault one of them may never end

	// The following is used in a store that is open for writing.

	own    bool         // see isOwn
	size   atomic.Int64 // of file, at least
	limit  int64        // of its size
	mapped int64        // bytes of it, at first as many as wanted
	lacks  int64        // bytes by which the file must grow before an empty batch succeeds; belongs to the commit under way
}

var _ storage.FileEngine = (*Engine)(nil)

// Run implements [storage.FileEngine]. It stops the store when its file is removed, replaced or cut
// short, also without a commit.
func (e *Engine) Run(done <-chan struct{}) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-done:
			return
		}
		if err := e.verifyFile(); err != nil {
			e.failStop.Stop(err)
			return
		}
	}
}

// verifyFile returns an error that matches [storage.ErrCorrupt] if the database file was removed,
// replaced or cut short: later writes to the open file would be lost, and a restart would begin with an
// empty database.
func (e *Engine) verifyFile() error {
	const gone = "%w: its file was removed or replaced while it was open"
	least := e.size.Load() // before the stat: the file may grow at any time
	opened, _ := e.file.Stat()
	there, err := os.Stat(e.path)
	switch {
	case err != nil:
		return fmt.Errorf(gone+": %w", storage.ErrCorrupt, err)
	case !os.SameFile(there, opened):
		return fmt.Errorf(gone, storage.ErrCorrupt)
	case there.Size() < least:
		return fmt.Errorf("%w: its file was cut short, from %d bytes to %d, while it was open", storage.ErrCorrupt, least, there.Size())
	}
	return nil
}

// transaction calls do with a transaction, and rolls it back unless do has committed it. It returns
// [storage.ErrUnavailable] if the database is closed or has stopped. bbolt panics if a page is
// corrupt, and a read of mapped memory does if the disk fails or the file was cut short: transaction
// logs that and returns [storage.ErrCorrupt]. If bbolt then still holds a lock, on which later
// transactions would wait forever, the store stops.
func (e *Engine) transaction(writable bool, do func(*bolt.Tx) error) (err error) {
	if err := e.failStop.Refusal(); err != nil {
		return err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	ended := false
	e.running.Add(1)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: a page of %s is corrupt, or cannot be read", storage.ErrCorrupt, e.path)
			e.logger.Error("database access failed", "database", e.path, "cause", fmt.Sprint(p),
				"hint", "stop the server, run plantstore check, and restore a backup", "stack", string(debug.Stack()))
		}
		if !ended {
			e.failStop.Stop(e.explainCorrupt(err))
			return
		}
		e.running.Add(-1)
	}()
	tx, err := e.db.Begin(writable)
	if err != nil {
		ended = true
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	defer func() {
		_ = tx.Rollback() // it fails after a commit
		ended = true
	}()
	return do(tx)
}

// explainCorrupt returns the cause of err: a page that cannot be read may have been cut off.
func (e *Engine) explainCorrupt(err error) error {
	if !e.writable || !errors.Is(err, storage.ErrCorrupt) {
		return err
	}
	return cmp.Or(e.verifyFile(), err)
}

// view calls read with the bucket of plants.
func (e *Engine) view(read func(plants *bolt.Bucket) error) error {
	return e.transaction(false, func(tx *bolt.Tx) error { return read(tx.Bucket([]byte(plantsBucket))) })
}
