package bbolt

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage"
)

// limitSize limits the file to the pages that are in use: a transaction that needs more fails
// with ErrMaxSizeReached, and change calls grow. On Windows the limit would apply to the mapping:
// there bbolt grows the file.
func (e *Engine) limitSize() error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return e.db.View(func(tx *bolt.Tx) error {
		e.setAllocated(tx.Size())
		return nil
	})
}

// setAllocated lets bbolt use the first size bytes of the file. It never uses the last page.
func (e *Engine) setAllocated(size int64) {
	e.db.AllocSize = 0 // the limit includes it
	e.db.MaxSize = int(size + e.pageSize)
}

// grow appends zeros to the part of the file that bbolt may use, and syncs them: a commit only
// overwrites blocks that the disk already has. Otherwise ext4 could report a sync as done whose
// blocks it then loses: it looks for the transaction of its journal that allocated them, and
// does not find one that was aborted. The size is therefore changed after the sync, which fails
// if the journal was aborted.
//
// An error that matches [storage.ErrNoSpace] has changed nothing.
func (e *Engine) grow() error {
	there, err := statOpen(e.file)
	if least := e.size.Load(); err == nil && there.size < least {
		err = fmt.Errorf("the database file was cut short, from %d bytes to %d", least, there.size)
	}
	if err != nil {
		return e.fatal(err, nil)
	}
	allocated := int64(e.db.MaxSize) - e.pageSize
	free, _ := diskOf(filepath.Dir(e.file.Name()))
	grown, err := writeZeros(e.file, allocated, growStep(allocated, free))
	grown -= grown % e.pageSize
	if err == nil || grown > 0 && NoSpace(err) { // the last pages of a full disk
		err = e.file.Sync()
	}
	if err == nil {
		err = e.file.Truncate(max(there.size, allocated+grown+e.pageSize))
	}
	switch {
	case err == nil:
		e.setAllocated(allocated + grown)
		return nil
	case NoSpace(err):
		return fmt.Errorf("%w: grow the database file: %w", storage.ErrNoSpace, err)
	}
	return e.fatal(fmt.Errorf("grow the database file: %w", err), errors.New("the database file could not grow"))
}

// growStep returns by how many bytes a file with that many in use grows: at most by the same again, and by an
// eighth of the space that is free, unless that is unknown. Others may need it, too.
func growStep(allocated, free int64) int64 {
	if free < 0 {
		free = math.MaxInt64
	}
	return max(64<<10, min(allocated, free/8, 16<<20))
}

// writeZeros writes n zeros to file from offset on, and returns how many it has written.
func writeZeros(file io.WriterAt, offset, n int64) (written int64, err error) {
	zeros := make([]byte, min(n, 1<<20))
	for written < n && err == nil {
		var w int
		w, err = file.WriteAt(zeros[:min(n-written, int64(len(zeros)))], offset+written)
		written += int64(w)
	}
	return written, err
}
