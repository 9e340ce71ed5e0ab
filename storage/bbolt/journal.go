package bbolt

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	bolt "go.etcd.io/bbolt"

	"plantstore/internal/atomicfile"
	"plantstore/storage/bbolt/journal"
)

// journalSuffix is put after the name of the database for that of its journal.
const journalSuffix = ".journal"

// JournalPath returns the path of the journal of a database file.
func JournalPath(database string) string { return database + journalSuffix }

// stateKey is the key in the meta bucket of the [journal.State] of the database. While
// the journal is in use the schema version is journalSchema, so that a version which
// does not know journals refuses the database; it is schemaVersion otherwise.
const (
	stateKey      = "journal"
	journalSchema = 2
)

// readState sets the state that the database has of its journal. A database that
// never had one is clean.
func (e *Engine) readState(meta *bolt.Bucket, schema int) error {
	e.state = journal.State{Clean: true}
	if value := meta.Get([]byte(stateKey)); value != nil {
		if err := e.state.UnmarshalBinary(value); err != nil {
			return broken("is damaged (%v): restore a backup", err)
		}
	}
	if e.state.Clean == (schema == journalSchema) {
		return broken("is damaged (its schema version is %d, which its journal contradicts): restore a backup", schema)
	}
	return nil
}

// openJournal opens the journal with which the database was left, if the database
// needs it, and makes pending what the database lacks.
func (e *Engine) openJournal(path string, flag int) error {
	open := atomicfile.OpenFile
	if flag == os.O_RDONLY { // which root may do in a directory of another user
		open = openExisting
	}
	file, err := open(JournalPath(path), flag, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if e.state.Clean {
			return nil
		}
		return broken("lacks plants that are only in its journal %s, which is missing: put that back, or restore a backup", JournalPath(path))
	}
	if err != nil {
		return fmt.Errorf("its journal: %w", err)
	}
	if e.state.Clean {
		return e.wantApplied(path, file)
	}
	j, err := journal.Open(file, e.state)
	switch {
	case errors.Is(err, journal.ErrCorrupt), errors.Is(err, journal.ErrForeign), errors.Is(err, journal.ErrStale):
		return broken("lacks plants that should be in its journal %s, but %v: put the right one back, or restore a backup", JournalPath(path), err)
	case err != nil:
		return fmt.Errorf("its journal: %w", err)
	}
	e.journal = j
	e.openedJournal, err = statOpen(file)
	return err
}

// wantApplied closes the journal that lies next to a clean database, and returns an
// error if that has plants that the database lacks. A process that dies while it
// creates or removes a journal leaves one that has none.
func (e *Engine) wantApplied(path string, file *os.File) error {
	salt, err := journal.ReadSalt(file)
	state := journal.State{Salt: salt}
	if salt == e.state.Salt {
		state = e.state
	}
	j, openErr := journal.Open(file, state) // closes file
	if err = cmp.Or(err, openErr); errors.Is(err, journal.ErrStale) {
		return nil // the database has all of it, and more
	}
	if err != nil {
		return refusal("was closed cleanly, and the journal %s next to it is not its own (%v): move the journal away", JournalPath(path), err)
	}
	pending := j.Stats().Bytes
	if err := j.Close(); err != nil {
		return err
	}
	if pending > 0 {
		return refusal("was closed cleanly, but the journal %s next to it has plants: the database is an older copy, or the journal of another one; "+
			"put the right one back, or, to go on with what the database has, move the journal away", JournalPath(path))
	}
	return nil
}

// startJournal makes the journal ready for appending, if the store is to have one.
func (e *Engine) startJournal(path string, size int64) error {
	if e.journal != nil {
		if err := e.journal.Rewrite(); err != nil {
			return refusal("cannot make its journal durable (%v): the disk may be failing", err)
		}
		if e.journal.Size() == journal.FileSize(size) {
			return nil
		}
		if err := e.retireJournal(path); err != nil { // for one of the right size
			return err
		}
		e.journal = nil
	}
	if err := removeJournal(path); err != nil || size == 0 {
		return err
	}
	return e.createJournal(path, size)
}

// createJournal creates an empty journal. Where there is no space for one, the store
// works without.
func (e *Engine) createJournal(path string, size int64) (err error) {
	var state journal.State
	err = atomicfile.Create(JournalPath(path), filePerm, func(file *atomicfile.File) (err error) {
		state.Salt, err = journal.Format(file.File, size)
		return err
	})
	if err != nil && NoSpace(err) {
		e.logger.Warn("no space for the journal: creates wait for two syncs instead of one", "journal", JournalPath(path), "bytes", size, "cause", err.Error())
		return nil
	}
	if err != nil {
		return fmt.Errorf("create its journal: %w", err)
	}
	file, err := atomicfile.OpenFile(JournalPath(path), os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("its journal: %w", err)
	}
	if e.journal, err = journal.Open(file, state); err != nil {
		return fmt.Errorf("its journal: %w", err)
	}
	if e.openedJournal, err = statOpen(file); err != nil {
		return err
	}
	return e.update(nil, &state)
}

// retireJournal makes all that is pending durable in the tree, notes that the journal
// is not needed any more, and removes it.
func (e *Engine) retireJournal(path string) error {
	err := e.checkpointAll()
	if err == nil { // else what is pending is only in the journal
		err = e.setClean(true)
	}
	if err = errors.Join(err, e.journal.Close()); err != nil {
		return err
	}
	return removeJournal(path)
}

// checkpointAll moves all that is pending to the tree. Nothing must be committed
// meanwhile.
func (e *Engine) checkpointAll() error {
	for e.journal.Stats().Bytes > 0 {
		if err := e.checkpoint(nil); err != nil {
			return err
		}
	}
	return nil
}

// setClean notes in the database whether it needs its journal. Nothing must be pending.
func (e *Engine) setClean(clean bool) error {
	if e.state.Clean == clean {
		return nil
	}
	state := e.state
	state.Clean = clean
	return e.update(nil, &state)
}

// unsetClean notes in the database that it needs its journal, after a snapshot has
// noted that it does not.
func (e *Engine) unsetClean() error {
	e.checkpointing.Lock()
	defer e.checkpointing.Unlock()
	return e.setClean(false)
}

// putState puts the state of the journal into the database, unless it is nil.
func putState(tx *bolt.Tx, state *journal.State) error {
	if state == nil {
		return nil
	}
	value, err := state.MarshalBinary()
	if err != nil {
		return err
	}
	schema := journalSchema
	if state.Clean {
		schema = schemaVersion
	}
	meta := tx.Bucket([]byte(metaBucket))
	return errors.Join(meta.Put([]byte(stateKey), value), meta.Put([]byte(schemaKey), strconv.AppendInt(nil, int64(schema), 10)))
}

// removeJournal removes the journal next to a clean database, if there is one.
func removeJournal(path string) error {
	err := os.Remove(JournalPath(path)) //nolint:gosec // next to the database
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, atomicfile.SyncDir(filepath.Dir(path)))
}
