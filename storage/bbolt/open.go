package bbolt

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	bolt "go.etcd.io/bbolt"

	"plantstore/internal/atomicfile"
	"plantstore/storage"
)

const (
	// schemaVersion is that of the layout which this package writes, and the
	// newest that it reads.
	schemaVersion = 1
	filePerm      = 0o600
	dirPerm       = 0o750
	lockTimeout   = time.Second

	// firstTxid is the number of the transaction that makes a store without
	// plants. bbolt counts what an empty file has as 0 and 1.
	firstTxid = 2
)

// The buckets, and the key in the meta bucket of the schema version, which is
// written in decimal, and of the database's own random id, in hexadecimal.
const (
	plantsBucket = "plants"
	metaBucket   = "meta"
	schemaKey    = "schema"
	idKey        = "id"
	idLen        = 16 // bytes
)

// Open is the [storage.Opener] of this engine. The logger gets the findings of the
// scrub, and whether the mark is torn.
func Open(ctx context.Context, loc storage.Location, options storage.Options) (*storage.Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if loc.Path == "" {
		return nil, fmt.Errorf("%w names a host: write %s:PATH, or %[2]s:///PATH for one from the root", storage.ErrURL, loc.Scheme)
	}
	return OpenFile(loc.Path, options) //nolint:contextcheck // the store outlives the context of its opening
}

// OpenFile opens the store in the file path. Unless it is opened for reading, it makes
// the file, and the folders above it, if they do not exist. Whatever file is there but
// is no plant store's, or is damaged, or locked by another process for more than a
// second, is refused and stays as it is, and so is one that has vanished from beside
// its mark; the error says what it is and what can be done.
func OpenFile(path string, options storage.Options) (*storage.Store, error) {
	s, err := openEngine(path, options)
	if err != nil {
		return nil, err
	}
	return s.store(), nil
}

func openEngine(path string, options storage.Options) (*Engine, error) {
	if options.ReadOnly {
		e, err := openReadOnly(path, openExisting)
		if err != nil {
			return nil, err
		}
		if err := e.openJournal(path, os.O_RDONLY); err != nil && options.Damaged {
			e.journalErr = explain(path, err)
		} else if err != nil {
			return nil, errors.Join(explain(path, err), e.db.Close())
		}
		return e, nil
	}
	return openWritable(path, options)
}

func openWritable(path string, options storage.Options) (*Engine, error) {
	if err := ensure(path); err != nil {
		return nil, explainCreate(path, err)
	}
	// bbolt may write to a file when it opens it, even to one that is not
	// ours. A look without the right to write comes first.
	s, err := openReadOnly(path, openExisting)
	if err != nil {
		return nil, err
	}
	if err := s.db.Close(); err != nil {
		return nil, explain(path, err)
	}
	if s, err = open(path, false, openExisting); err != nil {
		return nil, explain(path, err)
	}
	s.logger = options.Log()
	if err := s.start(options.JournalBytes); err != nil {
		return nil, errors.Join(explain(path, err), s.db.Close())
	}
	return s, nil
}

// openReadOnly opens the database in the file path for reading, which openFile opens.
// It refuses what openWritable refuses, and makes and changes nothing.
func openReadOnly(path string, openFile openFunc) (*Engine, error) {
	s, err := open(path, true, openFile)
	if err != nil {
		return nil, explain(path, err)
	}
	return s, nil
}

// ensure makes a file with no plants in it at path, unless something is there, or
// was: what has vanished is not replaced.
func ensure(path string) error {
	dir := filepath.Dir(path)
	if err := atomicfile.MkdirAll(dir, dirPerm); err != nil {
		return err
	}
	if err := atomicfile.Check(path); err != nil {
		return err
	}
	if err := refuseNetwork(dir); err != nil {
		return err
	}
	// The mark is looked at first: another process may be making both.
	orphan := refuseOrphan(path)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) { //nolint:gosec // the operator names the database
		if orphan != nil {
			return orphan
		}
		err := atomicfile.Create(path, filePerm, initialise)
		if !errors.Is(err, fs.ErrExist) { // else another process was quicker
			return err
		}
	}
	// Whoever made the file may have died before this.
	return atomicfile.SyncDir(dir)
}

// initialise makes an empty file a store without plants.
func initialise(file *atomicfile.File) error {
	db, err := bolt.Open(file.Name(), filePerm, &bolt.Options{Timeout: lockTimeout, OpenFile: file.OpenFile})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		if _, err := tx.CreateBucket([]byte(plantsBucket)); err != nil {
			return err
		}
		meta, err := tx.CreateBucket([]byte(metaBucket))
		if err != nil {
			return err
		}
		return errors.Join(
			meta.Put([]byte(schemaKey), strconv.AppendInt(nil, schemaVersion, 10)),
			meta.Put([]byte(idKey), newID()))
	})
	return errors.Join(err, db.Close())
}

// open opens an existing file, and returns it if it is a store of ours.
func open(path string, readOnly bool, openFile openFunc) (s *Engine, err error) {
	s = &Engine{logger: slog.New(slog.DiscardHandler), halfFull: make(chan struct{}, 1)}
	options := &bolt.Options{
		Timeout:         lockTimeout,
		ReadOnly:        readOnly,
		FreelistType:    bolt.FreelistMapType,
		NoStatistics:    true,
		InitialMmapSize: mappedSize(path, readOnly),
		OpenFile: func(name string, flag int, perm fs.FileMode) (_ *os.File, err error) {
			s.file, err = inspected(openFile)(name, flag, perm)
			return s.file, err
		},
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		// bbolt's way with a broken structure. If it was met on opening, the
		// file stays mapped, and so locked, until the process ends.
		if p := recover(); p != nil {
			err = broken("is damaged (%v): restore a backup", p)
			if s.db != nil {
				err = errors.Join(err, s.db.Close())
			}
			s = nil
		}
	}()
	if s.db, err = bolt.Open(path, filePerm, options); err != nil {
		return nil, err
	}
	s.pageSize = int64(s.db.Info().PageSize)
	if err := s.db.View(s.verify); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	return s, nil
}

// mappedSize returns how many bytes of the file are mapped from the start; 0
// means as many as it has. To map more, a commit waits for all who read, which a
// snapshot does for long: so there are 16 GiB, or twice what the file has. They cost
// address space alone, but not on Windows.
func mappedSize(path string, readOnly bool) int {
	info, err := os.Stat(path) //nolint:gosec // the operator names the database
	if err != nil || readOnly || runtime.GOOS == "windows" || strconv.IntSize < 64 {
		return 0
	}
	return max(1<<(strconv.IntSize/2+2), int(2*info.Size()))
}

// growStep returns by how much a file of that size grows at a time: bbolt itself
// knows large steps only, once as much is mapped.
func growStep(size int64) int { return int(min(max(size, 64<<10), 16<<20)) }

// verify finds out whether a bbolt file is a store that this package can read.
func (e *Engine) verify(tx *bolt.Tx) error {
	meta := tx.Bucket([]byte(metaBucket))
	if meta == nil || tx.Bucket([]byte(plantsBucket)) == nil {
		return refusal("is a bbolt database, but not of a plant store: name another file")
	}
	schema := meta.Get([]byte(schemaKey))
	version, err := strconv.Atoi(string(schema))
	switch {
	case err != nil || version < 1:
		return broken("is damaged (its schema version is %q): restore a backup", schema)
	case version > journalSchema:
		return refusal("has schema version %d, and this plantstore knows none above %d: upgrade plantstore",
			version, journalSchema)
	}
	e.id = string(meta.Get([]byte(idKey)))
	if id, err := hex.DecodeString(e.id); err != nil || len(id) != idLen {
		return broken("is damaged (its id is %q): restore a backup", e.id)
	}
	return e.readState(meta, version)
}
