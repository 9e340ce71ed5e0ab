package bbolt

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"plantstore/internal/atomicfile"
	"plantstore/storage"
	"plantstore/storage/bbolt/journal"
)

// keptSuffix is put after the name of the database, and the time after that, for
// what [Restore] has replaced.
const keptSuffix = ".replaced-"

// A DamageError says that a file which was to be put in place is damaged, or the one
// that was to be replaced by a compact one.
type DamageError struct {
	Report storage.Report
}

// Error says how much is damaged.
func (e *DamageError) Error() string {
	return fmt.Sprintf("it is damaged: %d findings", int64(len(e.Report.Damage))+e.Report.More)
}

// Check reads the store in a file as [Engine.Check] does, and returns a *DamageError if
// it is not intact, else how many plants it has.
func Check(ctx context.Context, file *atomicfile.File) (plants int64, err error) {
	s, err := openReadOnly(file.Name(), file.OpenFile)
	if err != nil {
		return 0, damage(err)
	}
	report, err := s.Check(ctx, nil)
	if err := errors.Join(err, s.Close()); err != nil {
		return 0, err
	}
	if !report.Whole() {
		return 0, &DamageError{report}
	}
	return report.Plants, nil
}

// Restore puts a copy of the file backup in the place of the database path, if all
// of it is whole; else it returns a *DamageError. The copy gets an id of its own:
// the mark of what was there before means nothing to it. What was there stays
// under the name kept, which is empty if there was nothing. A database that
// another process has open is not touched: the error matches [storage.ErrLocked].
// Nor is one that appears only meanwhile: the error matches [fs.ErrExist].
// At whatever moment the process dies, one of the two databases is at path, intact.
func Restore(ctx context.Context, path, backup string) (plants int64, kept string, err error) {
	source, err := openReadOnly(backup, openExisting) // nobody writes to it from now on
	if err != nil {
		return 0, "", damage(err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if err := source.wantComplete(backup); err != nil {
		return 0, "", err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // a second name for the link would not keep what it leads to
	}
	fill := func(file *atomicfile.File) (err error) {
		plants, err = copyWhole(ctx, file, source.file, leftover(path))
		return err
	}
	unlock, err := lock(path)
	if errors.Is(err, fs.ErrNotExist) {
		if exists(JournalPath(path)) {
			return 0, "", fmt.Errorf("%s is missing, and its journal %s may have plants: move that away first", path, JournalPath(path))
		}
		err = create(path, fill)
		return plants, "", err
	}
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	err = atomicfile.Replace(path, filePerm, func(file *atomicfile.File) (err error) {
		if err := fill(file); err != nil {
			return err
		}
		kept, err = keep(file.Dir(), path)
		return err
	})
	if err != nil {
		return plants, kept, err
	}
	return plants, kept, removeJournal(path)
}

// wantComplete returns an error unless the open database at path has all its plants,
// without a journal.
func (e *Engine) wantComplete(path string) error {
	if err := e.wantWatermark(); err != nil {
		return err
	}
	if err := e.openJournal(path, os.O_RDONLY); err != nil {
		return damage(explain(path, err))
	}
	if e.journal != nil {
		return fmt.Errorf("database %s: %w: run plantstore compact with it first", path, ErrPending)
	}
	return nil
}

// leftover returns the state of a database that makes the journal at path, if there is
// one, needless: the next start removes it, should the process die before it does.
func leftover(path string) journal.State {
	state := journal.State{Clean: true, Applied: math.MaxUint64}
	if file, err := os.Open(JournalPath(path)); err == nil {
		state.Salt, _ = journal.ReadSalt(file) // if it is corrupt the next start refuses it
		_ = file.Close()                       // it was only read
	}
	return state
}

// create puts what fill writes at path, where nothing was.
func create(path string, fill func(*atomicfile.File) error) error {
	if err := atomicfile.MkdirAll(filepath.Dir(path), dirPerm); err != nil {
		return err
	}
	err := atomicfile.Create(path, filePerm, fill)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: it was made meanwhile, and stays as it is", err)
	}
	return err
}

// copyWhole makes an empty file a copy of the store in the open file backup, with an id
// and a state of its own, if it is intact, and returns how many plants it has.
func copyWhole(ctx context.Context, file *atomicfile.File, backup *os.File, state journal.State) (plants int64, err error) {
	all := io.NewSectionReader(backup, 0, math.MaxInt64)
	if _, err := io.Copy(&cancelWriter{ctx: ctx, w: file}, all); err != nil {
		return 0, err
	}
	if plants, err = Check(ctx, file); err != nil {
		return 0, err
	}
	return plants, renew(file, &state)
}

// MayReplace returns an error if a copy must not take the place of the file path:
// it is a store, since a mark or a journal lies beside it, or such a mark or journal, or
// another process has it open. A copy of a store that nobody has written to may be replaced, as may other files.
func MayReplace(path string) error {
	names := []string{path}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		names = append(names, target)
	}
	for _, name := range names {
		for _, beside := range []string{WatermarkPath(name), JournalPath(name)} {
			if exists(beside) {
				return fmt.Errorf("%s is the database of a store, as %s beside it shows: name another file", path, beside)
			}
		}
		for suffix, what := range map[string]string{watermarkSuffix: "mark", journalSuffix: "journal"} {
			if strings.HasSuffix(name, suffix) && exists(name) {
				return fmt.Errorf("%s is the %s of a store: name another file", path, what)
			}
		}
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // opening a pipe would wait for its other end
		return nil //nolint:nilerr // whoever writes to it will tell
	}
	unlock, err := lock(path)
	switch {
	case errors.Is(err, storage.ErrLocked):
		return fmt.Errorf("%s is %w: name another file", path, storage.ErrLocked)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return unlock()
}

// wantWatermark returns a *DamageError if the store lacks commits that its mark knows of.
func (e *Engine) wantWatermark() error {
	var report storage.Report
	if err := e.checkWatermark(&report); err != nil || report.Whole() {
		return err
	}
	return &DamageError{report}
}

// renew gives the store in a file an id of its own, since its transactions are not those
// that the mark beside it has counted, and a state of its journal unless that is nil.
func renew(file *atomicfile.File, state *journal.State) error {
	db, err := bolt.Open(file.Name(), filePerm,
		&bolt.Options{Timeout: lockTimeout, FreelistType: bolt.FreelistMapType, OpenFile: file.OpenFile})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		return errors.Join(tx.Bucket([]byte(metaBucket)).Put([]byte(idKey), newID()), putState(tx, state))
	})
	return errors.Join(err, db.Close())
}

// newID returns an id for a database.
func newID() []byte {
	id := make([]byte, idLen)
	_, _ = rand.Read(id) // never fails
	return hex.AppendEncode(nil, id)
}

// keep gives the database path, in the open directory dir, and its journal second names
// beside them. The journal is first: a process that dies in between leaves no database
// without its journal.
func keep(dir *os.Root, path string) (kept string, err error) {
	suffix := keptSuffix + time.Now().UTC().Format("20060102T150405Z")
	for n := 1; ; n++ {
		kept = path + suffix
		if n > 1 {
			kept = fmt.Sprintf("%s-%d", kept, n)
		}
		err := dir.Link(filepath.Base(JournalPath(path)), filepath.Base(JournalPath(kept)))
		if err == nil || errors.Is(err, fs.ErrNotExist) { // without one it was closed cleanly
			linked := err == nil
			err = dir.Link(filepath.Base(path), filepath.Base(kept))
			if err != nil && linked {
				err = errors.Join(err, dir.Remove(filepath.Base(JournalPath(kept))))
			}
		}
		if !errors.Is(err, fs.ErrExist) {
			return kept, err
		}
	}
}

// exists reports whether there is anything of that name, or may be.
func exists(name string) bool {
	_, err := os.Lstat(name) //nolint:gosec // next to the database
	return !errors.Is(err, fs.ErrNotExist)
}
