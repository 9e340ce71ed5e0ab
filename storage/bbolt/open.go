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
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"plantstore/internal/files"
	"plantstore/storage"
)

const (
	filePerm    = 0o600
	dirPerm     = 0o750
	lockTimeout = time.Second
)

// Open is the [storage.Opener] of this engine. Unless the file is opened for reading, Open creates
// it, and the directories above it, if they do not exist. It refuses, and does not change, a file that
// is not a plant store, or is corrupt, or that another process has locked. The error has the reason
// and a remedy.
func Open(ctx context.Context, loc storage.Location, options storage.Options) (*storage.Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if loc.Path == "" {
		return nil, fmt.Errorf("%w names a host: write %s:PATH, or %[2]s:///PATH for an absolute path", storage.ErrURL, loc.Scheme)
	}
	e, err := open(ctx, loc.Path, options)
	if err != nil {
		return nil, err
	}
	store := storage.New(e, e.failStop, storage.Limits{}, options)
	if cause := store.Fault(); cause != nil { // of its first commit
		if errors.Is(cause, storage.ErrCorrupt) {
			cause = corrupt("is corrupt (%v)", cause)
		}
		return nil, errors.Join(explain(loc.Path, cause), store.Close())
	}
	return store, nil
}

// OpenFile is [Open] for the file path.
func OpenFile(path string, options storage.Options) (*storage.Store, error) {
	return Open(context.Background(), storage.Location{Scheme: storage.DefaultScheme, Path: path}, options)
}

// open opens the file path as an engine.
func open(ctx context.Context, path string, options storage.Options) (e *Engine, err error) {
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
	if e.writable {
		if err := ensure(path); err != nil {
			return e, err
		}
		e.mapped = initialMapping(path)
	}
	var checked meta
	e.db, err = bolt.Open(path, filePerm, &bolt.Options{
		Timeout: lockTimeout, ReadOnly: options.ReadOnly, NoStatistics: true, InitialMmapSize: int(e.mapped),
		OpenFile: func(name string, flag int, _ fs.FileMode) (file *os.File, err error) {
			file, checked, err = e.openFile(ctx, name, flag)
			return file, err
		},
	})
	if err != nil {
		return e, err
	}
	e.pageSize = int64(e.db.Info().PageSize)
	err = e.db.View(func(tx *bolt.Tx) error {
		if uint64(tx.ID()) != checked.Txid || e.pageSize != int64(checked.PageSize) {
			return corrupt("is corrupt (bbolt reads another meta page than was checked)")
		}
		return nil
	})
	if err != nil {
		return e, err
	}
	if e.writable {
		err = e.start()
	}
	return e, err
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
	db, err := bolt.Open(file.Name(), filePerm, &bolt.Options{Timeout: lockTimeout})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		_, plantsErr := tx.CreateBucket([]byte(plantsBucket))
		bucket, metaErr := tx.CreateBucket([]byte(metaBucket))
		if err := errors.Join(plantsErr, metaErr); err != nil {
			return err
		}
		return errors.Join(bucket.Put([]byte(schemaKey), strconv.AppendInt(nil, schemaVersion, 10)), putOwn(tx, file))
	})
	return errors.Join(err, db.Close())
}

// initialMapping returns how many bytes of the file bbolt should map at first, 0 for what the file
// needs. To map more, a commit has to wait for all readers, such as a snapshot. It costs address space
// only, of which the process may have little, except on Windows.
func initialMapping(path string) int64 {
	info, err := os.Stat(path)
	if err != nil || mapsWholeFile {
		return 0
	}
	for size := min(max(16<<30, 2*info.Size()), maxFile); size > info.Size(); size /= 2 {
		if reserveMapping(nil, size/2*3) == nil { // half of it for all else
			return size
		}
	}
	return 0
}

// openFile opens the file for bbolt, which trusts its content, and may write to any file. So it refuses a
// file that is not a store that this package can read. It returns the meta page that it has checked.
func (e *Engine) openFile(ctx context.Context, name string, flag int) (_ *os.File, checked meta, err error) {
	file, err := openExisting(name, flag)
	if err != nil {
		return nil, checked, err
	}
	if err = lockFile(file, e.writable); err == nil {
		var intact int
		checked, intact = newestMeta(file)
		err = e.verify(ctx, file, checked, intact)
	}
	if err != nil {
		if locked := tryLock(file, e.writable); errors.Is(locked, bolterrors.ErrTimeout) {
			err = locked // on Windows, which does not keep the lock, a process has changed the pages meanwhile
		}
		return nil, checked, errors.Join(err, file.Close())
	}
	e.file = file
	return file, checked, nil
}

// openExisting opens a regular file, which it never creates.
func openExisting(name string, flag int) (*os.File, error) {
	info, err := os.Stat(name) // opening a pipe would wait for its other end
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, refusal("is a directory: name a file in it")
	case !info.Mode().IsRegular():
		return nil, refusal("is not a regular file: name another one")
	}
	return os.OpenFile(name, flag&^os.O_CREATE, 0)
}

// lockFile locks a file as bbolt does, if its name still leads to it: a process that replaces a database
// has locked it before. It waits for at most lockTimeout, and returns bbolt's error for a locked file.
func lockFile(file *os.File, exclusive bool) error {
	start := time.Now()
	err := tryLock(file, exclusive)
	for errors.Is(err, bolterrors.ErrTimeout) && time.Since(start) < lockTimeout {
		time.Sleep(lockTimeout / 20)
		err = tryLock(file, exclusive)
	}
	locked, _ := file.Stat()
	if there, _ := os.Stat(file.Name()); err == nil && !os.SameFile(locked, there) {
		err = bolterrors.ErrTimeout
	}
	return err
}

// verify refuses a file that is not a complete store, with what [newestMeta] returns of it: reading beyond
// the end of a mapped file kills the process, and bbolt may not end on pages that no server has written,
// and cannot be interrupted.
//
// To be written to, a file must have two intact meta pages: bbolt silently ignores a corrupt one, and
// with it perhaps the last commit.
func (e *Engine) verify(ctx context.Context, file *os.File, newest meta, intact int) error {
	info, err := file.Stat()
	switch {
	case err != nil:
		return err
	case intact == 0 && otherByteOrder(file):
		return refusal("is of a machine with another byte order: export its plants there (plantstore plants export), and import the export here")
	case intact == 0:
		return corrupt("is not the file of a plant store, or its beginning is corrupt")
	case info.Size() > maxFile:
		return refusal("has %d MiB, and the limit of a 32-bit system is %d MiB: open it on a 64-bit one", info.Size()>>20, maxFile>>20)
	case uint64(info.Size())/uint64(newest.PageSize) < newest.Pages:
		return corrupt("has been cut short, to %d bytes of at least %d pages of %d", info.Size(), newest.Pages, newest.PageSize)
	case e.writable && intact < 2:
		return corrupt("has a corrupt meta page, and may lack its last commit")
	}
	bucket, err := checkPages(file, newest, ctx.Err, false)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.As(err, new(refusalError)):
		return corrupt("is corrupt (%v)", err)
	case err != nil:
		return err
	}
	e.own = isOwn(bucket, file)
	return verifySchema(bucket[schemaKey])
}

// start prepares an open database for writing, or returns why it must not be written to.
func (e *Engine) start() error {
	if err := resyncMeta(e.file, e.pageSize); err != nil {
		return refusal("cannot be made durable (%v): the disk may be failing; "+
			"examine it before starting again, and run plantstore check", err)
	}
	info, err := e.file.Stat()
	if err != nil {
		return err
	}
	e.size.Store(info.Size())
	e.mapped = mapSize(max(info.Size(), e.mapped))
	if e.limitSize(); e.own {
		return nil
	}
	err = e.update(func(tx *bolt.Tx) error { return putOwn(tx, e.file) })
	if errors.Is(err, storage.ErrNoSpace) { // the next start checks all pages, too
		err = nil
	}
	return err
}

// resyncMeta rewrites and syncs both meta pages as they are, before anything else is written:
// after a sync that failed, the cache of the operating system has a meta page that the disk may
// lack. A commit on top of it would overwrite pages that the disk still needs.
func resyncMeta(file *os.File, pageSize int64) error {
	pages := make([]byte, 2*pageSize)
	if _, err := file.ReadAt(pages, 0); err != nil {
		return err
	}
	if _, err := file.WriteAt(pages, 0); err != nil {
		return err
	}
	return file.Sync()
}

// Close implements [storage.Engine]. Its last commit stores no plants: if the newest meta page
// becomes corrupt later, bbolt falls back to the one before, which then has all plants, too.
func (e *Engine) Close() (err error) {
	if e.writable && e.failStop.Cause() == nil {
		if err = e.Commit(nil); errors.Is(err, storage.ErrNoSpace) {
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
