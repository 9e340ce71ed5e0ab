package bbolt

import (
	"context"
	"sync"
	"time"
)

const (
	monitorPause = time.Second // between two checks of the files

	// warmBytes bounds the bytes of a database that are read at the start. More could
	// evict more useful pages from the cache of the operating system.
	warmBytes = 4 << 30
	warmChunk = 1 << 20
)

// Run implements [storage.Runner].
func (e *Engine) Run(ctx context.Context, stop func(cause error)) {
	var running sync.WaitGroup
	running.Go(func() { e.monitor(ctx, stop) })
	running.Go(func() { e.warm(ctx) })
	running.Go(func() { e.runCheckpoints(ctx) })
	running.Wait()
}

// monitor stops the store when one of its files is removed, replaced or truncated, also
// without a commit, and after a checkpoint that failed.
func (e *Engine) monitor(ctx context.Context, stop func(cause error)) {
	for sleep(ctx, monitorPause) {
		if err := e.verifyFiles(); err != nil {
			_ = e.fatal(err, nil) // nothing is written any more, and Close keeps the journal
		}
		if cause := e.failed.Load(); cause != nil {
			stop(*cause)
			return
		}
	}
}

// warm reads the database into the cache of the operating system: a page fault, unlike a system
// call, may delay the entire process, see docs/adr/0014-journal.md. It uses at most half of the
// disk's time.
func (e *Engine) warm(ctx context.Context) {
	chunk := make([]byte, warmChunk)
	for at, end := int64(0), min(e.size.Load(), warmBytes); at < end; at += warmChunk {
		began := time.Now()
		if _, err := e.file.ReadAt(chunk, at); err != nil {
			return // at the end of the file, or for others to report
		}
		if !sleep(ctx, time.Since(began)) {
			return
		}
	}
}

// sleep pauses for d. It returns false if ctx was done first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
