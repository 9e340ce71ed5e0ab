package bbolt

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strconv"

	"plantstore/storage"
)

// limitSize limits the file to the pages that are in use: a transaction that needs more fails
// with ErrMaxSizeReached, and update calls grow. On Windows the limit is that of the mapping, and
// the file is as large.
func (e *Engine) limitSize() {
	newest, _ := newestMeta(e.file)
	used := int64(newest.Pages) * e.pageSize
	e.db.AllocSize = 0 // MaxSize includes it
	e.setAllocated(used)
	if mapsWholeFile {
		e.setAllocated(e.mapped - e.pageSize)
	}
	if e.size.Load()-used <= minGrowth {
		e.lacks = minGrowth
	}
}

// setAllocated lets bbolt use the first size bytes of the file. bbolt leaves one page below MaxSize
// unused.
func (e *Engine) setAllocated(size int64) { e.db.MaxSize = int(size + e.pageSize) }

const (
	// maxFile limits the size of a file, to 1 GiB on a 32-bit system: bbolt would map the next 1 GiB, too.
	maxFile = int64(1) << (strconv.IntSize - 2)
	// minGrowth is the minimum of bytes by which the file grows, unless the disk has less.
	minGrowth = 64 << 10
	// maxReserve bounds lacks: a batch of CreateAll may need much more than a create.
	maxReserve = 1 << 20
)

// allocated returns how many bytes of the file bbolt may use.
func (e *Engine) allocated() int64 { return int64(e.db.MaxSize) - e.pageSize }

// grow lets bbolt use more of the file, at least so many bytes if there is space.
func (e *Engine) grow(least int64) error {
	step := min(e.allocated(), 16<<20, e.mapped-e.pageSize-e.allocated()) // as much again
	if free := freeSpace(e.file); free >= 0 {
		step = min(step, free/8) // others may need it, too
	}
	err := e.extend(max(least, step))
	if errors.Is(err, storage.ErrNoSpace) {
		e.lacks = max(e.lacks, min(least, maxReserve))
	}
	return err
}

// reserve grows the file by what it lacks, in steps if the disk has less.
func (e *Engine) reserve() error {
	for e.lacks > 0 {
		before := e.allocated()
		if err := e.extend(e.lacks); err != nil {
			return err
		}
		e.lacks -= e.allocated() - before
	}
	return nil
}

// extend appends zeros to the part of the file that bbolt may use, so many bytes if there is space,
// and syncs them: a commit only overwrites blocks that the disk already has. The truncate after the
// sync fails if ext4 has lost them, see docs/adr/0005-fail-stop.md.
//
// After an error that matches [storage.ErrNoSpace] bbolt may use as much as before.
func (e *Engine) extend(step int64) error {
	if err := e.verifyFile(); err != nil {
		return e.halt(err)
	}
	allocated := e.allocated()
	step = (step + e.pageSize - 1) / e.pageSize * e.pageSize
	if err := e.remap(allocated + step + e.pageSize); err != nil || mapsWholeFile {
		return err
	}
	grown, err := writeZeros(e.file, allocated, step)
	grown -= grown % e.pageSize
	if err == nil || grown > 0 && NoSpace(err) { // the last pages of a full disk
		err = e.file.Sync()
	}
	size := min(max(e.size.Load(), allocated+grown)+e.pageSize, e.limit)
	if err == nil {
		err = e.file.Truncate(size)
	}
	switch {
	case err == nil:
		e.size.Store(size)
		e.setAllocated(allocated + grown)
		return nil
	case NoSpace(err):
		return fmt.Errorf("%w: grow the database file: %w", storage.ErrNoSpace, err)
	}
	return e.halt(fmt.Errorf("grow the database file: %w", err))
}

// remap lets bbolt map size bytes. bbolt first unmaps what it has, and could not continue if the
// new mapping failed.
func (e *Engine) remap(size int64) error {
	if size <= e.mapped {
		return nil
	}
	if size > e.limit {
		return fmt.Errorf("%w: the database has reached the limit of a 32-bit system, %d MiB: move it to a 64-bit one", storage.ErrNoSpace, e.limit>>20)
	}
	size = mapSize(size)
	if err := reserveMapping(e.file, size); err != nil {
		return fmt.Errorf("%w: map %d MiB of the database: %w", storage.ErrNoSpace, size>>20, err)
	}
	if e.mapped = size; mapsWholeFile {
		e.size.Store(size)
		e.setAllocated(size - e.pageSize)
	}
	return nil
}

// halt stops the store because of cause, and returns the error of creates that were not stored.
func (e *Engine) halt(cause error) error {
	e.failStop.Stop(cause)
	return e.failStop.Refusal()
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

// mapSize returns how many bytes bbolt maps for a file of size bytes.
func mapSize(size int64) int64 {
	const step = 1 << 30
	if size > step {
		return (size + step - 1) / step * step
	}
	return max(1<<15, int64(1)<<bits.Len64(uint64(size-1)))
}
