package bbolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"

	"plantstore/internal/files"
	"plantstore/storage"
	"plantstore/storage/bbolt/journal"
)

const (
	// keptSuffix and the time are appended to the name of the replaced database by [Restore].
	keptSuffix = ".replaced-"
	keptTime   = "20060102T150405Z"
	// compactBytes bounds a transaction of [Compact], and so its memory.
	compactBytes = 8 << 20
)

// Check reads the store in a file as [Engine.check] does. It returns the number of plants, or a
// *CorruptStoreError if the store is not intact.
func Check(ctx context.Context, file *os.File) (plants int64, err error) {
	e, err := open(file.Name(), true)
	if err != nil {
		return 0, err
	}
	plants, err = e.countIntact(ctx)
	return plants, errors.Join(err, e.Close())
}

// countIntact returns the number of plants, or a *CorruptStoreError.
func (e *Engine) countIntact(ctx context.Context) (plants int64, err error) {
	report, err := e.Check(ctx, nil)
	if err == nil && !report.Intact() {
		err = &CorruptStoreError{report}
	}
	return report.Plants, err
}

// Restore replaces the database path by a copy of the file backup, if that is intact; else
// it returns a *CorruptStoreError. The copy gets a new id: the watermark of the replaced
// database does not apply to it. That database stays under the name kept, which is empty
// if there was none. A database that another process has open is not touched: the error
// matches [storage.ErrLocked]. Nor is one that is created meanwhile: the error matches
// [fs.ErrExist]. Whenever the process dies, one of the two databases is at path, intact.
func Restore(ctx context.Context, path, backup string) (plants int64, kept string, err error) {
	source, err := OpenEngine(backup, storage.Options{ReadOnly: true}) // its lock prevents writes
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if source.hasJournal() {
		return 0, "", fmt.Errorf("%s: %w: run plantstore compact --storage-url %[1]s first", source.file.Name(), ErrPending)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // a link itself cannot be kept
	}
	fill := func(file *os.File) (err error) {
		if err := source.Snapshot(ctx, file); err != nil {
			return err
		}
		if plants, err = Check(ctx, file); err != nil {
			return err
		}
		state := leftover(path)
		return editFile(file, func(tx *bolt.Tx) error { return errors.Join(putID(tx), putState(tx, &state)) })
	}
	unlock, err := lock(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = createRestored(path, fill)
		return plants, "", err
	}
	if err != nil {
		return 0, "", explain(path, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	err = files.Replace(path, func(file *os.File) (err error) {
		// A server that starts after a crash changes the database under both of its
		// names. So it gets the second one last, after all syncs.
		if err := fill(file); err != nil {
			return err
		}
		if err := file.Sync(); err != nil {
			return err
		}
		kept, err = keep(path)
		return err
	})
	if err != nil {
		return plants, kept, err
	}
	return plants, kept, removeJournal(path)
}

// createRestored creates the database path, which is filled by fill.
func createRestored(path string, fill func(*os.File) error) error {
	if exists(JournalPath(path)) {
		return fmt.Errorf("%s is missing, and its journal %s may have plants: put the database back, or move the journal away", path, JournalPath(path))
	}
	if err := files.MkdirAll(filepath.Dir(path), dirPerm); err != nil {
		return err
	}
	err := files.Create(path, fill)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: it was created meanwhile, and is not changed", err)
	}
	return err
}

// leftover returns the state of a database that has applied all batches of the journal next to
// path, if there is one: if the process dies before it has removed that journal, the next start
// removes it.
func leftover(path string) journal.State {
	state := journal.State{Clean: true, Applied: math.MaxUint64}
	if file, err := os.Open(JournalPath(path)); err == nil {
		state.Salt, _ = journal.ReadSalt(file) // if the journal is corrupt, the next start refuses it
		_ = file.Close()                       // the file was only read
	}
	return state
}

// keep gives the database path and its journal second names. The journal is first: a process that
// dies in between leaves no database without its journal.
func keep(path string) (kept string, err error) {
	first := path + keptSuffix + time.Now().UTC().Format(keptTime)
	kept = first
	for n := 2; exists(kept) || exists(JournalPath(kept)); n++ {
		kept = fmt.Sprintf("%s-%d", first, n)
	}
	journalErr := os.Link(JournalPath(path), JournalPath(kept))
	if journalErr != nil && !errors.Is(journalErr, fs.ErrNotExist) { // a database without a journal was closed cleanly
		return "", journalErr
	}
	err = os.Link(path, kept)
	if err != nil && journalErr == nil {
		err = errors.Join(err, os.Remove(JournalPath(kept)))
	}
	return kept, err
}

// MayReplace returns an error if the file path exists and an output must not replace it: it is a
// database, which a backup is too, or a journal, or not a regular file.
func MayReplace(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file: name another one", path)
	}
	file, err := openExisting(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // opened for reading
	if _, found := newestMeta(file); found {
		return fmt.Errorf("%s is a database or a backup, which is never replaced: name another file", path)
	}
	if journal.IsJournal(file) {
		return fmt.Errorf("%s is the journal of a database, which is never replaced: name another file", path)
	}
	return nil
}

// Compact rewrites the database path without unused space, and returns its sizes in bytes. No
// process may have it open. The new file replaces the old one after it was checked and has all
// its plants.
func Compact(ctx context.Context, path string) (before, after int64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, explain(path, err)
	}
	e, err := OpenEngine(path, storage.Options{})
	if err != nil {
		return 0, 0, err
	}
	closed := sync.OnceValue(e.Close)
	defer func() { err = errors.Join(err, closed()) }()
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // a link itself must not be replaced
	}
	err = files.Replace(path, func(file *os.File) error {
		if err := e.compactTo(ctx, file); err != nil {
			return err
		}
		compact, err := file.Stat()
		if err != nil {
			return err
		}
		after = compact.Size()
		if runtime.GOOS == "windows" { // which replaces no open file
			return closed()
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("compact: %w", err)
	}
	return info.Size(), after, err
}

// compactTo makes an empty file a compact copy of the store, which must not be written to.
func (e *Engine) compactTo(ctx context.Context, file *os.File) error {
	plants, err := e.countIntact(ctx)
	if err != nil {
		return err
	}
	// All of the file is synced before it is published.
	db, err := bolt.Open(file.Name(), filePerm, &bolt.Options{Timeout: lockTimeout, NoSync: true})
	if err != nil {
		return err
	}
	db.AllocSize = 0 // the file grows by the required pages only
	err = bolt.Compact(db, e.db, compactBytes)
	if err == nil {
		err = db.Update(putID)
	}
	if err := errors.Join(err, db.Close(), ctx.Err()); err != nil {
		return err
	}
	copied, err := Check(ctx, file)
	if err == nil && copied != plants {
		err = fmt.Errorf("the compact copy has %d plants, the database %d", copied, plants)
	}
	return err
}
