package bbolt

import (
	"context"
	"time"

	"plantstore/internal/wait"
)

const (
	// warmBytes bounds what is read of a database at the start. Beyond it the cache
	// of the operating system could lose more than it gains.
	warmBytes = 4 << 30
	warmChunk = 1 << 20
)

// warm reads the database into the cache of the operating system. bbolt reads mapped
// memory: a page that is not in the cache is a page fault, which the runtime cannot
// interrupt, so that the garbage collector, and with it the whole process, may wait for
// a busy disk. A read is a system call, which keeps up its own goroutine only. It takes
// at most half of the time of the disk.
func (e *Engine) warm(ctx context.Context) {
	chunk := make([]byte, warmChunk)
	for at, end := int64(0), min(e.size.Load(), warmBytes); at < end; at += warmChunk {
		began := time.Now()
		if _, err := e.file.ReadAt(chunk, at); err != nil {
			return // at the end of the file, or for others to report
		}
		if !wait.Sleep(ctx, time.Since(began)) {
			return
		}
	}
}
