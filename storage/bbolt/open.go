package bbolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"

	bolt "go.etcd.io/bbolt"

	"plantstore/internal/files"
	"plantstore/storage"
)

// Open is the [storage.Opener] of this engine. The logger gets problems with the file that do
// not prevent the start.
func Open(ctx context.Context, loc storage.Location, options storage.Options) (*storage.Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if loc.Path == "" {
		return nil, fmt.Errorf("%w names a host: write %s:PATH, or %[2]s:///PATH for an absolute path", storage.ErrURL, loc.Scheme)
	}
	return openStore(ctx, loc.Path, options)
}

// OpenFile opens the store in the file path. Unless it is opened for reading, OpenFile creates
// the file, and the directories above it, if they do not exist. It refuses, and does not change,
// a file that is not a plant store, or is corrupt, or that another process has locked. The error
// has the reason and a remedy.
func OpenFile(path string, options storage.Options) (*storage.Store, error) {
	return openStore(context.Background(), path, options)
}

func openStore(ctx context.Context, path string, options storage.Options) (*storage.Store, error) {
	e, err := open(ctx, path, options)
	if err != nil {
		return nil, err
	}
	store := storage.New(e, e.failStop, storage.Limits{}, options)
	if cause := store.Fault(); cause != nil { // of its first commit
		if errors.Is(cause, storage.ErrCorrupt) {
			cause = corrupt("is corrupt (%v)", cause)
		}
		return nil, errors.Join(explain(path, cause), store.Close())
	}
	return store, nil
}

// ensure creates a file without plants at path, unless the file exists.
func ensure(path string) error {
	dir := filepath.Dir(path)
	if err := files.MkdirAll(dir, dirPerm); err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		err := files.Create(path, initialise)
		if !errors.Is(err, fs.ErrExist) { // otherwise another process was faster
			return err
		}
	}
	return files.SyncDir(dir) // the process that created the file may have died before this
}

// initialise makes an empty file a store without plants.
func initialise(file *os.File) error {
	return editFile(file, func(tx *bolt.Tx) error {
		_, plantsErr := tx.CreateBucket([]byte(plantsBucket))
		_, metaErr := tx.CreateBucket([]byte(metaBucket))
		if err := errors.Join(plantsErr, metaErr); err != nil {
			return err
		}
		return errors.Join(tx.Bucket([]byte(metaBucket)).Put([]byte(schemaKey), strconv.AppendInt(nil, schemaVersion, 10)), putID(tx), putOwn(tx, file))
	})
}

// open opens the file path, and refuses one that is not a plant store. Unless it is for reading, open
// creates the file if it is missing. It changes nothing unless bbolt does, which may write to any file
// that it opens for writing: so open first opens it for reading.
func open(ctx context.Context, path string, options storage.Options) (e *Engine, err error) {
	if !options.ReadOnly {
		if err := ensure(path); err != nil {
			return nil, explain(path, err)
		}
		reader, err := open(ctx, path, storage.Options{ReadOnly: true})
		if err != nil {
			return nil, err
		}
		if err := reader.Close(); err != nil {
			return nil, explain(path, err)
		}
	}
	e = &Engine{path: path, writable: !options.ReadOnly, logger: options.Log(), failStop: storage.NewFailStop(options.Log()), limit: maxFile}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		// bbolt panics where the structure is corrupt. If it does while it opens the
		// file, that stays mapped, and so locked, until the process ends.
		if p := recover(); p != nil {
			err = corrupt("is corrupt (%v)", p)
		}
		if err != nil && e.db != nil {
			err = errors.Join(err, e.release())
		}
		if err != nil {
			e, err = nil, explain(path, err)
		}
	}()
	e.mapped = initialMapping(path, options.ReadOnly)
	e.db, err = bolt.Open(path, filePerm, &bolt.Options{
		Timeout: lockTimeout, ReadOnly: options.ReadOnly, NoStatistics: true, InitialMmapSize: int(e.mapped), OpenFile: e.openFile,
	})
	if err != nil {
		return e, err
	}
	e.pageSize = int64(e.db.Info().PageSize)
	if err := e.db.View(func(tx *bolt.Tx) error { return e.verify(ctx, tx) }); err != nil || options.ReadOnly {
		return e, err
	}
	return e, e.start()
}

// openFile opens the file for bbolt, and refuses what bbolt cannot detect.
func (e *Engine) openFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	file, err := openExisting(name, flag, perm)
	if err != nil {
		return nil, err
	}
	if err := inspect(file, e.writable); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	e.file = file
	return file, nil
}

// verify refuses a file that is not a store that this package can read. It checks all pages of a file
// that no server has written, such as a copy: bbolt may not end on them, and cannot be interrupted.
func (e *Engine) verify(ctx context.Context, tx *bolt.Tx) error {
	_, err := newPageCheck(e.file, ctx.Err).buckets()
	if err == nil && !e.writable {
		_, err = newPageCheck(e.file, ctx.Err).freelist()
		if err == nil && !isOwn(tx, e.file) {
			err = newPageCheck(e.file, ctx.Err).all()
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.As(err, new(refusalError)):
		return corrupt("is corrupt (%v)", err)
	case err != nil:
		return err
	}
	return verifySchema(tx)
}

// initialMapping returns how many bytes of the file bbolt should map at first, 0 for what the file
// needs. To map more, a commit has to wait for all readers, such as a snapshot. It costs address space
// only, of which the process may have little, except on Windows.
func initialMapping(path string, readOnly bool) int64 {
	info, err := os.Stat(path)
	if err != nil || readOnly || mapsWholeFile {
		return 0
	}
	for size := min(max(16<<30, 2*info.Size()), maxFile); size > info.Size(); size /= 2 {
		if reserveMapping(nil, size/2*3) == nil { // half of it for all else
			return size
		}
	}
	return 0
}

// start prepares an open database for writing, or returns why it must not be written to.
func (e *Engine) start() (err error) {
	if err := resyncMeta(e.file, e.pageSize); err != nil {
		return refusal("cannot be made durable (%v): the disk may be failing; "+
			"examine it before starting again, and run plantstore check", err)
	}
	if e.opened, err = e.file.Stat(); err != nil {
		return err
	}
	e.size.Store(e.opened.Size())
	e.mapped = mapSize(max(e.opened.Size(), e.mapped))
	if err := e.limitSize(); err != nil {
		return err
	}
	err = e.update(func(tx *bolt.Tx) error {
		if isOwn(tx, e.file) {
			return errUnchanged
		}
		return putOwn(tx, e.file)
	})
	if errors.Is(err, storage.ErrNoSpace) { // the next start checks all pages, too
		err = nil
	}
	return err
}

// Close implements [storage.Engine]. Its last commit stores no plants: if the newest meta page
// becomes corrupt later, bbolt falls back to the one before, which then has all plants, too.
func (e *Engine) Close() (err error) {
	if e.writable && e.failStop.Cause() == nil {
		if err = e.update(func(tx *bolt.Tx) error { return insert(tx, nil) }); errors.Is(err, storage.ErrNoSpace) {
			err = nil
		}
	}
	return errors.Join(err, e.release())
}

// release is Close without a commit.
func (e *Engine) release() error {
	if e.failStop.Cause() != nil && e.running.Load() > 0 {
		return e.file.Close() // bbolt would wait; the file stays mapped, and so locked
	}
	return e.db.Close()
}
