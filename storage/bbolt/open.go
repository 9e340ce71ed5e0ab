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

	"plantstore/internal/durable"
	"plantstore/storage"
)

const (
	// schemaVersion is that of the layout which this package writes, and the
	// newest that it reads.
	schemaVersion = 1
	filePerm      = 0o600
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

// Opener returns the [storage.Opener] of this engine. The store tells logger what
// its scrub finds, and if its mark is torn.
func Opener(logger *slog.Logger) storage.Opener {
	return func(ctx context.Context, loc storage.Location) (storage.Store, error) {
		return openURL(ctx, loc, logger)
	}
}

func openURL(ctx context.Context, loc storage.Location, logger *slog.Logger) (storage.Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if loc.Path == "" {
		return nil, fmt.Errorf("%w names a host: write %s:PATH, or %[2]s:///PATH for one from the root", storage.ErrURL, loc.Scheme)
	}
	open := OpenReadOnly
	if !loc.ReadOnly {
		open = func(path string) (*Store, error) { //nolint:contextcheck // the store outlives the context of its opening
			return openWritable(path, logger)
		}
	}
	s, err := open(loc.Path)
	if err != nil {
		return nil, err // not a nil *Store in an interface
	}
	return s, nil
}

// Open opens the store in the file path. It makes the file, and the folders
// above it, if they do not exist. Whatever file is there but is no plant store's,
// or is damaged, or locked by another process for more than a second, is refused
// and stays as it is, and so is one that has vanished from beside its mark; the
// error says what it is and what can be done.
func Open(path string) (*Store, error) { return openWritable(path, slog.New(slog.DiscardHandler)) }

func openWritable(path string, logger *slog.Logger) (*Store, error) {
	if err := ensure(path); err != nil {
		return nil, explainCreate(path, err)
	}
	// bbolt may write to a file when it opens it, even to one that is not
	// ours. A look without the right to write comes first.
	s, err := OpenReadOnly(path)
	if err != nil {
		return nil, err
	}
	if err := s.db.Close(); err != nil {
		return nil, explain(path, err)
	}
	if s, err = open(path, false); err != nil {
		return nil, explain(path, err)
	}
	s.logger = logger
	if err := s.start(path); err != nil {
		return nil, errors.Join(explain(path, err), s.db.Close())
	}
	s.run()
	return s, nil
}

// OpenReadOnly opens the store in the file path to be looked at. It refuses what
// Open refuses, and makes and changes nothing. A create is refused.
func OpenReadOnly(path string) (*Store, error) {
	s, err := open(path, true)
	if err != nil {
		return nil, explain(path, err)
	}
	return s, nil
}

// ensure makes a file with no plants in it at path, unless something is there, or
// was: what has vanished is not replaced.
func ensure(path string) error {
	dir := filepath.Dir(path)
	if err := durable.MkdirAll(dir); err != nil {
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
		err := durable.Create(path, filePerm, initialise)
		if !errors.Is(err, fs.ErrExist) { // else another process was quicker
			return err
		}
	}
	// Whoever made the file may have died before this.
	return durable.SyncDir(dir)
}

// initialise makes the empty file tmp a store without plants.
func initialise(tmp string) error {
	db, err := bolt.Open(tmp, filePerm, &bolt.Options{Timeout: lockTimeout})
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
func open(path string, readOnly bool) (s *Store, err error) {
	s = &Store{group: storage.ReadOnly(), logger: slog.New(slog.DiscardHandler)}
	options := &bolt.Options{
		Timeout:         lockTimeout,
		ReadOnly:        readOnly,
		FreelistType:    bolt.FreelistMapType,
		NoStatistics:    true,
		InitialMmapSize: mappedSize(path, readOnly),
		OpenFile: func(name string, flag int, perm fs.FileMode) (_ *os.File, err error) {
			s.file, err = openFile(name, flag, perm)
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
func (s *Store) verify(tx *bolt.Tx) error {
	meta := tx.Bucket([]byte(metaBucket))
	if meta == nil || tx.Bucket([]byte(plantsBucket)) == nil {
		return refusal("is a bbolt database, but not of a plant store: name another file")
	}
	schema := meta.Get([]byte(schemaKey))
	version, err := strconv.Atoi(string(schema))
	switch {
	case err != nil || version < 1:
		return broken("is damaged (its schema version is %q): restore a backup", schema)
	case version > schemaVersion:
		return refusal("has schema version %d, and this plantstore knows none above %d: upgrade plantstore",
			version, schemaVersion)
	}
	s.id = string(meta.Get([]byte(idKey)))
	if id, err := hex.DecodeString(s.id); err != nil || len(id) != idLen {
		return broken("is damaged (its id is %q): restore a backup", s.id)
	}
	return nil
}
