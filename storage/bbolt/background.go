package bbolt

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"plantstore/storage"
)

const (
	monitorPause = time.Second            // between two checks of the files
	scrubStart   = 10 * time.Second       // after opening
	scrubPause   = 100 * time.Millisecond // between chunks of records
	scrubRest    = time.Hour              // between two passes through all records

	// warmBytes bounds the bytes of a database that are read at the start. More could
	// evict more useful pages from the cache of the operating system.
	warmBytes = 4 << 30
	warmChunk = 1 << 20
)

// Run implements [storage.Runner].
func (e *Engine) Run(ctx context.Context, stop func(cause error)) {
	var running sync.WaitGroup
	running.Go(func() { e.monitor(ctx, stop) })
	running.Go(func() { e.scrub(ctx) })
	running.Go(func() { e.warm(ctx) })
	if e.hasJournal() {
		running.Go(func() { e.runCheckpoints(ctx) })
	}
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

// scrub continuously re-reads all records at a low rate, so that corruption is found
// before a record is needed.
func (e *Engine) scrub(ctx context.Context) {
	stats := storage.ScrubStats{}
	for pause := scrubStart; sleep(ctx, pause); pause = scrubRest {
		start, before := time.Now(), stats
		for next := keyOf(math.MinInt64); next != nil; {
			var findings []error
			after, err := e.readTree(next, nil, func(key, value []byte) error {
				stats.Records++
				if _, err := decode(key, value); err != nil {
					findings = append(findings, err)
				}
				return nil
			})
			if errors.Is(err, storage.ErrUnavailable) {
				return
			}
			if err != nil {
				stats.Records++
				findings = append(findings, err)
			}
			for _, err := range findings {
				e.logger.Error("corruption found", "database", e.path, "cause", err.Error(),
					"hint", "stop the server, run plantstore check, and restore a backup")
			}
			stats.Corrupt += uint64(len(findings))
			current := stats
			e.scrubbed.Store(&current)
			if next = after; !sleep(ctx, scrubPause) {
				return
			}
		}
		stats.LastPass, stats.LastCorrupt = time.Now(), stats.Corrupt-before.Corrupt
		pass := stats
		e.scrubbed.Store(&pass)
		e.logger.Info("scrubbed", "database", e.path, "plants", stats.Records-before.Records-stats.LastCorrupt,
			"corrupt", stats.LastCorrupt, "duration", time.Since(start))
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
