package bbolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"plantstore/internal/files"
	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt/journal"
)

// openJournal opens the existing journal, if the database needs it, and makes the records
// pending that the database lacks.
func (e *Engine) openJournal() error {
	path, state := JournalPath(e.path), e.state.Load()
	flag := os.O_RDONLY
	if e.writable {
		flag = os.O_RDWR
	}
	file, err := openExisting(path, flag|files.NoFollow, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist) && state.Clean:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return corrupt("may lack plants that are only in its journal %s, which is missing: put that back, or restore a backup", path)
	case errors.As(err, new(refusalError)):
		return corrupt("may lack plants that should be in its journal, but %s is not a regular file: put the right one back, or restore a backup", path)
	case err != nil:
		return fmt.Errorf("its journal: %w", err)
	case state.Clean:
		return checkLeftover(file, *state)
	}
	j, err := journal.Open(file, *state, e.writable)
	switch {
	case errors.Is(err, journal.ErrCorrupt), errors.Is(err, journal.ErrForeign), errors.Is(err, journal.ErrStale):
		return corrupt("may lack plants that should be in its journal %s, but %v: put the right one back, or restore a backup", path, err)
	case err != nil:
		return fmt.Errorf("its journal: %w", err)
	}
	e.journal = j
	e.openedJournal, err = file.Stat()
	return err
}

// checkLeftover closes the journal next to a clean database, and returns an error if it
// has plants that the database lacks. A process that dies while it creates or removes a
// journal leaves one without plants.
func checkLeftover(file *os.File, state journal.State) error {
	if salt, _ := journal.ReadSalt(file); salt != state.Salt { // Open returns its error
		state = journal.State{Salt: salt}
	}
	j, err := journal.Open(file, state, false) // closes file
	if errors.Is(err, journal.ErrStale) {
		return nil // the database has all of it, and more
	}
	if err == nil {
		if j.Stats().Bytes == 0 {
			return j.Close()
		}
		err = errors.Join(errors.New("it has plants"), j.Close())
	}
	return refusal("was closed cleanly, but the journal %s next to it is not its own (%v): the database is an older copy, or the journal of another one; "+
		"put the right one back, or, to continue with the plants in the database, move the journal away", file.Name(), err)
}

// startJournal prepares the journal for appending, if the store is to have one.
func (e *Engine) startJournal(size int64) error {
	if e.hasJournal() {
		if e.openedJournal.Size() == journal.FileSize(size) {
			return nil
		}
		if err := e.retireJournal(); err != nil { // for one of the right size
			return err
		}
		e.journal = new(journal.Journal)
	}
	if err := removeJournal(e.path); err != nil || size == 0 {
		return err
	}
	return e.createJournal(size)
}

// createJournal creates an empty journal. If there is no space, the store works without one.
func (e *Engine) createJournal(size int64) (err error) {
	var state journal.State
	path := JournalPath(e.path)
	err = files.Create(path, func(file *os.File) (err error) {
		state.Salt, err = journal.Format(file, size)
		return err
	})
	if err != nil && NoSpace(err) {
		e.logger.Warn("no space for the journal: creates wait for two syncs", "journal", path, "bytes", size, "cause", err.Error(),
			"hint", "free some space, or choose a smaller JOURNAL_BYTES, and start again")
		return nil
	}
	if err != nil {
		return fmt.Errorf("create its journal: %w", err)
	}
	if err := e.update(nil, &state); err != nil {
		return err
	}
	return e.openJournal()
}

// retireJournal makes all pending records durable in the tree, stores that the journal is
// no longer needed, and removes it.
func (e *Engine) retireJournal() error {
	err := e.verifyFiles() // they must still be those that the next start opens
	if err == nil {
		err = e.checkpointAll()
	}
	if err == nil {
		err = e.setClean(true)
	}
	if errors.Is(err, storage.ErrNoSpace) {
		err = fmt.Errorf("%w; no plant is lost, the journal has those that the database lacks: free some space and start the server again", err)
	}
	if err = errors.Join(err, e.journal.Close()); err != nil {
		return err
	}
	return removeJournal(e.path)
}

// removeJournal removes the journal next to the clean database path, if there is one.
func removeJournal(path string) error {
	err := os.Remove(JournalPath(path)) //nolint:gosec // next to the database
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, files.SyncDir(filepath.Dir(path)))
}

// pending returns the plant that is pending under id, or nil. It is called before the tree
// is read: a checkpoint moves records from the journal to the tree.
func (e *Engine) pending(id int64) (*models.Plant, error) {
	value, found := e.journal.Get(id)
	if !found {
		return nil, nil //nolint:nilnil // as the comment says
	}
	return decode(keyOf(id), value)
}
