package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"syscall"
	"time"

	"plantstore/storage"
)

const (
	// interval is the time between two syncs, and before a failed write is retried.
	interval = time.Second
	// patience is the maximum time of a write before creates stop, and the time that creates,
	// Close and Reopen wait.
	patience = 5 * time.Second
)

// errStalled is returned while a write to the target does not return.
var errStalled = errors.New("a write has stalled")

// A Target is the file or stream of a [Log].
type Target interface {
	io.WriteCloser

	// Sync flushes all writes to the disk.
	Sync() error

	// Removed reports whether the file no longer has a name.
	Removed() bool
}

// A Log appends lines to a target, in order, each exactly once. One goroutine writes them, so
// that a write that does not return delays nobody for longer than [patience]. It is safe for
// concurrent use.
type Log struct {
	open   func() (Target, error)
	logger *slog.Logger

	additions chan addition
	reopens   chan chan error
	closing   chan struct{}
	done      chan struct{} // closed when run returns
	close     func()        // closes closing, once

	// Only for the goroutine of run.
	target     Target
	unwritten  []byte // lines to retry, from the beginning of a line
	partial    int    // number of bytes of unwritten that are in target already
	dirty      bool   // written to since the last sync
	synced     time.Time
	syncFailed bool // the last sync

	mu      sync.Mutex
	failure error // of the last write or sync, or errStalled
}

// An addition is lines to append, and the channel for the result.
type addition struct {
	lines  []byte
	result chan error // has capacity 1: nobody may wait any more
}

// waiting is the number of additions that may wait for a stalled write. Usually there is one:
// each writer of the store records one commit at a time, and none while the log is not ready.
const waiting = 16

// Open opens a target and returns a Log that appends to it. Reopen calls open again.
// The logger reports when writes begin to fail, and when they succeed again.
func Open(open func() (Target, error), logger *slog.Logger) (*Log, error) {
	target, err := open()
	if err != nil {
		return nil, err
	}
	l := &Log{
		open: open, logger: logger, target: target, synced: time.Now(),
		additions: make(chan addition, waiting), reopens: make(chan chan error),
		closing: make(chan struct{}), done: make(chan struct{}),
	}
	l.close = sync.OnceFunc(func() { close(l.closing) })
	go l.run()
	return l, nil
}

// Reopen writes all lines appended so far, and replaces the target by a newly opened
// one. If that fails, the old target stays in use. If Reopen returns because a write has
// stalled or ctx is done, the target may still be replaced later.
func (l *Log) Reopen(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errStalled)
	defer cancel()
	result := make(chan error, 1)
	select {
	case l.reopens <- result:
	case <-l.done:
		return nil
	case <-ctx.Done():
	}
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return fmt.Errorf("reopen the audit log: %w", context.Cause(ctx))
	}
}

// Close writes the remaining lines and closes the target. Lines that cannot be written
// are logged. If a write has stalled, Close returns an error after [patience], and the target is
// closed when the write returns. Close may be called again.
func (l *Log) Close() error {
	l.close()
	select {
	case <-l.done:
		return l.Ready()
	case <-time.After(patience):
		return fmt.Errorf("close the audit log: %w", errStalled)
	}
}

// append appends lines, and waits until they are written. After [storage.ErrUnrecorded] they
// may still be written later.
func (l *Log) append(lines []byte) error {
	a, err := addition{lines, make(chan error, 1)}, errStalled
	select {
	case l.additions <- a:
		err = l.await(a)
	default: // too many wait for a stalled write
	}
	if err != nil {
		return fmt.Errorf("%w: %w", storage.ErrUnrecorded, err)
	}
	return nil
}

func (l *Log) await(a addition) error {
	select {
	case err := <-a.result:
		return err
	case <-l.done:
		return errors.New("the audit log is closed")
	case <-time.After(patience):
		l.setFailure(errStalled)
		return errStalled
	}
}

// run writes until Close is called.
func (l *Log) run() {
	defer close(l.done)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case a := <-l.additions:
			a.result <- l.write(a.lines)
		case <-ticker.C:
			_ = l.write(nil) // retries unwritten lines
			l.sync()
		case result := <-l.reopens:
			result <- l.replace()
		case <-l.closing:
			l.closeTarget()
			return
		}
	}
}

// write writes the unwritten lines and further ones.
func (l *Log) write(lines []byte) error {
	l.unwritten = append(l.unwritten, lines...)
	err := l.replaceRemoved()
	if len(l.unwritten) == 0 {
		return err
	}
	written := l.partial
	if err == nil {
		var n int
		n, err = l.target.Write(l.unwritten[l.partial:])
		written += n
	}
	l.dirty = l.dirty || written > 0
	complete := bytes.LastIndexByte(l.unwritten[:written], '\n') + 1
	l.unwritten, l.partial = slices.Delete(l.unwritten, 0, complete), written-complete
	l.setFailure(err)
	return err
}

// replaceRemoved opens a new target if the file was removed. The next write retries
// after an error.
func (l *Log) replaceRemoved() error {
	if !l.target.Removed() {
		return nil
	}
	l.dirty = false // a removed file needs no sync
	target, err := l.open()
	if err != nil {
		err = fmt.Errorf("the file was removed, and a new one cannot be opened: %w", err)
		l.setFailure(err)
		return err
	}
	l.logger.Error("audit log removed with all its lines: continuing in a new file")
	_ = l.target.Close()
	l.target, l.partial = target, 0
	if len(l.unwritten) == 0 { // else the next write decides
		l.setFailure(nil)
	}
	return nil
}

// setFailure sets or clears the failure by the error of the last write or sync, or errStalled, and
// logs a change, without l.mu, for which creates wait.
func (l *Log) setFailure(err error) {
	l.mu.Lock()
	failed := l.failure != nil
	l.failure = failureOf(err)
	l.mu.Unlock()
	switch {
	case err != nil && !failed:
		l.logger.Error("audit log cannot be written: creates stopped", "cause", err.Error(),
			"hint", "fix the cause; creates resume without a restart")
	case err == nil && failed:
		l.logger.Warn("audit log written again: creates resumed")
	}
}

// failureOf returns the error of creates after a write or sync that returned err.
func failureOf(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: %w: %s", storage.ErrNoSpace, storage.ErrAuditLog, err.Error())
	}
	return fmt.Errorf("%w: %w: %s", storage.ErrUnavailable, storage.ErrAuditLog, err.Error())
}

// sync syncs the target. After a failed sync the kernel may drop the dirty pages, and the next
// sync may succeed without them: so the first failure logs the time since which lines may be
// lost.
func (l *Log) sync() {
	if !l.dirty {
		return
	}
	now, err := time.Now(), l.target.Sync()
	if err == nil {
		l.synced = now
	} else if !l.syncFailed {
		l.logger.Error("audit log sync failed: lines may be lost", "since", l.synced.UTC(), "cause", err.Error())
	}
	l.dirty, l.syncFailed = err != nil, err != nil
	if err != nil || len(l.unwritten) == 0 { // else the last write decided
		l.setFailure(err)
	}
}

// replace continues in a newly opened target. A line that is partially in the old one
// is rewritten.
func (l *Log) replace() error {
	_ = l.write(nil)
	target, err := l.open()
	if err != nil {
		return fmt.Errorf("reopen failed, keeping the previous audit log: %w", err)
	}
	l.sync()
	if err := l.target.Close(); err != nil {
		l.logger.Error("previous audit log not closed: its last lines may be lost", "cause", err.Error())
	}
	l.target, l.partial = target, 0
	_ = l.write(nil)
	return nil
}

// closeTarget writes what waits, and closes the target.
func (l *Log) closeTarget() {
	for len(l.additions) > 0 {
		a := <-l.additions
		a.result <- l.write(a.lines)
	}
	_ = l.write(nil)
	l.sync()
	if len(l.unwritten) > 0 {
		l.logger.Error("audit log lines not written", "lines", string(l.unwritten))
	}
	if err := l.target.Close(); err != nil {
		l.setFailure(err)
	}
}
