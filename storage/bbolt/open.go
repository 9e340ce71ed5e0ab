package bbolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
)

// The buckets, and the key in the meta bucket of the schema version, which is
// written in decimal.
const (
	plantsBucket = "plants"
	metaBucket   = "meta"
	schemaKey    = "schema"
)

// OpenURL is the [storage.Opener] of this engine.
func OpenURL(ctx context.Context, loc storage.Location) (storage.Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if loc.Path == "" {
		return nil, fmt.Errorf("storage URL names a host: write %s:PATH, or %[1]s:///PATH for one from the root", loc.Scheme)
	}
	s, err := Open(loc.Path)
	if err != nil {
		return nil, err // not a nil *Store in an interface
	}
	return s, nil
}

// Open opens the store in the file path. It makes the file, and the folders
// above it, if they do not exist. Whatever file is there but is no plant store's,
// or is damaged, or locked by another process for more than a second, is refused
// and stays as it is; the error says what it is and what can be done.
func Open(path string) (*Store, error) {
	if err := ensure(path); err != nil {
		return nil, fmt.Errorf("create database %s: %w", path, err)
	}
	// bbolt may write to a file when it opens it, even to one that is not
	// ours. A look without the right to write comes first.
	db, _, err := open(path, true)
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		return nil, explain(path, err)
	}
	db, file, err := open(path, false)
	if err != nil {
		return nil, explain(path, err)
	}
	return newStore(db, file), nil
}

// ensure makes a file with no plants in it at path, unless something is there.
func ensure(path string) error {
	dir := filepath.Dir(path)
	if err := durable.MkdirAll(dir); err != nil {
		return err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
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
		return meta.Put([]byte(schemaKey), strconv.AppendInt(nil, schemaVersion, 10))
	})
	return errors.Join(err, db.Close())
}

// open opens an existing file, and returns it with its handle if it is a store
// of ours.
func open(path string, readOnly bool) (db *bolt.DB, file *os.File, err error) {
	options := &bolt.Options{
		Timeout:      lockTimeout,
		ReadOnly:     readOnly,
		FreelistType: bolt.FreelistMapType,
		NoStatistics: true,
		OpenFile: func(name string, flag int, perm fs.FileMode) (_ *os.File, err error) {
			file, err = openFile(name, flag, perm)
			return file, err
		},
	}
	defer func() {
		// bbolt's way with a broken structure. It leaves the file mapped, and
		// so locked, until the process ends.
		if p := recover(); p != nil {
			err = refusal("is damaged (%v): restore a backup", p)
		}
	}()
	db, err = bolt.Open(path, filePerm, options)
	if err != nil {
		return nil, nil, err
	}
	if err := db.View(verify); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, file, nil
}

// verify finds out whether a bbolt file is a store that this package can read.
func verify(tx *bolt.Tx) error {
	meta := tx.Bucket([]byte(metaBucket))
	if meta == nil || tx.Bucket([]byte(plantsBucket)) == nil {
		return refusal("is a bbolt database, but not of a plant store: name another file")
	}
	schema := meta.Get([]byte(schemaKey))
	version, err := strconv.Atoi(string(schema))
	switch {
	case err != nil || version < 1:
		return refusal("is damaged (its schema version is %q): restore a backup", schema)
	case version > schemaVersion:
		return refusal("has schema version %d, and this plantstore knows none above %d: upgrade plantstore",
			version, schemaVersion)
	}
	return nil
}
