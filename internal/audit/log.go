package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"plantstore/storage"
)

const (
	// maxWaiting is how many bytes of lines may wait for one that is being
	// written. Then nothing more is created.
	maxWaiting = 4 << 20
	// interval is how often lines are brought to the disk, and tried again after a
	// failure.
	interval = time.Second
	// patience is how long a write may take before nothing more is created, and
	// how long Close and Reopen wait.
	patience = 5 * time.Second
)

// errStuck is about a target that takes nothing.
var errStuck = errors.New("what is written to it is not taken")

// A Target is what a [Log] is written to.
type Target interface {
	io.WriteCloser

	// Sync brings what was written to the disk.
	Sync() error

	// Removed reports whether nobody can find any more what is written to it.
	Removed() bool
}

// A Log writes lines, each once, in their order, and whole as long as its target
// is not replaced in the middle of one. Lines that come while others are being
// written are the next write. It may be used by any number of goroutines.
type Log struct {
	open   func() (Target, error)
	logger *slog.Logger

	wake    chan struct{} // holds one: there are lines
	reopens chan chan error
	closing chan struct{}
	ended   chan struct{} // closed when nothing is written any more

	// What belongs to the goroutine that writes.
	target Target
	rest   []byte    // lines that could not be written, from the start of one
	torn   int       // how many bytes of them have been written to target
	dirty  bool      // something was written since the last sync
	synced time.Time // when all that had been written was on the disk
	doubt  bool      // the last sync has failed

	mu      sync.Mutex
	next    *batch    // nil if there are no lines
	memory  []byte    // for the next batch
	begun   time.Time // when the write that is under way began; zero if there is none
	failure error     // why nothing can be written; nil while it can
	closed  bool
}

// A batch is what is written at a time.
type batch struct {
	lines []byte
	done  chan struct{} // closed when err is known
	err   error
}

// Open returns a Log of what open opens, which it calls again at each Reopen. It
// tells logger when lines cannot be written, and when they can again.
func Open(open func() (Target, error), logger *slog.Logger) (*Log, error) {
	target, err := open()
	if err != nil {
		return nil, err
	}
	l := &Log{
		open: open, logger: logger, target: target, synced: time.Now(),
		wake: make(chan struct{}, 1), reopens: make(chan chan error),
		closing: make(chan struct{}), ended: make(chan struct{}),
	}
	go l.run()
	return l, nil
}

// Reopen goes on in a new target, which open returns, after every line that was
// appended before is in the old one. If it cannot be opened the old one stays.
func (l *Log) Reopen(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errStuck)
	defer cancel()
	answer := make(chan error, 1)
	select {
	case l.reopens <- answer:
	case <-l.ended:
		return nil
	case <-ctx.Done():
	}
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return fmt.Errorf("the audit log was not opened again: %w", context.Cause(ctx))
	}
}

// Close writes what is left. What cannot be written it leaves to the logger.
// Closing again does nothing.
func (l *Log) Close() error {
	l.mu.Lock()
	first := !l.closed
	l.closed = true
	l.mu.Unlock()
	if first {
		close(l.closing)
	}
	enough := time.NewTimer(patience)
	defer enough.Stop()
	select {
	case <-l.ended:
	case <-enough.C:
		return fmt.Errorf("the audit log is not complete: %w", errStuck)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}

// ready returns nil while lines can be written, else why not.
func (l *Log) ready() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.failure != nil:
		return l.failure
	case l.next != nil && len(l.next.lines) > maxWaiting:
		return fmt.Errorf("%w: %d bytes wait to be written to the audit log", storage.ErrOverloaded, len(l.next.lines))
	case !l.begun.IsZero() && time.Since(l.begun) > patience:
		return fmt.Errorf("%w: %w: %w", storage.ErrUnavailable, storage.ErrAuditLog, errStuck)
	}
	return nil
}

// append appends the lines that add adds, and returns nil when they are written.
// Else it returns ErrUnrecorded; they may yet be.
func (l *Log) append(ctx context.Context, add func(lines []byte, now time.Time) []byte) error {
	b, err := l.enqueue(add)
	if b == nil {
		return err
	}
	select {
	case l.wake <- struct{}{}:
	default: // it will look anyway
	}
	runtime.Gosched() // when all who are ready to run have done so, the lines are written as a rule
	select {
	case <-b.done:
		return b.err
	case <-ctx.Done():
	}
	select {
	case <-b.done: // at the same time
		return b.err
	default:
		return fmt.Errorf("%w: %w", storage.ErrUnrecorded, context.Cause(ctx))
	}
}

// enqueue adds lines to the next batch, which it returns.
func (l *Log) enqueue(add func(lines []byte, now time.Time) []byte) (*batch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, fmt.Errorf("%w: it is closed", storage.ErrUnrecorded)
	}
	b := l.next
	if b == nil {
		b = &batch{lines: l.memory[:0], done: make(chan struct{})}
		l.memory = nil
	}
	before := len(b.lines)
	b.lines = add(b.lines, time.Now().UTC())
	if len(b.lines) == before && l.next == nil { // there was nothing to note
		l.memory = b.lines
		return nil, nil //nolint:nilnil // so that nobody waits
	}
	l.next = b
	return b, nil
}

// run writes until Close is called.
func (l *Log) run() {
	defer close(l.ended)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-l.wake:
			runtime.Gosched() // others whose plants were in the same commit come first
			l.write()
		case <-ticker.C:
			l.write() // again, if it has failed
			l.sync()
		case answer := <-l.reopens:
			answer <- l.replace()
		case <-l.closing:
			l.write()
			l.end()
			return
		}
	}
}

// write writes what could not be written before, and the next batch.
func (l *Log) write() {
	b := l.take()
	err := l.find()
	if b == nil {
		return
	}
	lines, written := b.lines, l.torn
	if len(l.rest) > 0 {
		lines = slices.Concat(l.rest, b.lines)
	}
	if err == nil {
		var n int
		n, err = l.target.Write(lines[l.torn:])
		written += n
	}
	l.dirty = l.dirty || written > 0
	whole := bytes.LastIndexByte(lines[:written], '\n') + 1
	l.rest, l.torn = bytes.Clone(lines[whole:]), written-whole
	l.settle(b, err)
}

// take returns the batch that is to be written now, nil if there are no lines.
func (l *Log) take() *batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.next
	if b == nil && len(l.rest) > 0 {
		b = &batch{done: make(chan struct{})}
	}
	if b != nil {
		l.next, l.begun = nil, time.Now()
	}
	return b
}

// find goes on in a new target if the file that is open was removed. If there can
// be none it returns why, and tries again the next time.
func (l *Log) find() error {
	if !l.target.Removed() {
		return nil
	}
	l.dirty = false // nobody can find what is in it, on the disk or not
	target, err := l.open()
	if err != nil {
		err = fmt.Errorf("its file was removed, and a new one cannot be opened: %w", err)
		l.judge(err)
		return err
	}
	l.logger.Error("the file of the audit log was removed, and with it all lines that were in it: the audit log goes on in the one that has its name now")
	_ = l.target.Close()
	l.target, l.torn = target, 0
	if len(l.rest) == 0 { // else the next write says more
		l.judge(nil)
	}
	return nil
}

// settle tells those who wait for the batch what became of it.
func (l *Log) settle(b *batch, err error) {
	if err != nil {
		b.err = fmt.Errorf("%w: %w", storage.ErrUnrecorded, err)
	}
	l.judge(err)
	l.mu.Lock()
	l.begun = time.Time{}
	if cap(b.lines) <= maxWaiting {
		l.memory = b.lines
	}
	l.mu.Unlock()
	close(b.done)
}

// judge takes note of how the last write or sync went, and says so if that has
// changed: after it has unlocked l.mu, for which creates wait.
func (l *Log) judge(err error) {
	l.mu.Lock()
	failed := l.failure != nil
	l.failure = failureOf(err)
	l.mu.Unlock()
	switch {
	case err != nil && !failed:
		l.logger.Error("the audit log cannot be written: no plant is created until it can", "cause", err.Error())
	case err == nil && failed:
		l.logger.Warn("the audit log is written again")
	}
}

// failureOf returns what creates get after a write or sync with that outcome.
func failureOf(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: %w: %s", storage.ErrNoSpace, storage.ErrAuditLog, err.Error())
	}
	return fmt.Errorf("%w: %w: %s", storage.ErrUnavailable, storage.ErrAuditLog, err.Error())
}

// sync brings what was written to the disk. When it fails the system may have given
// up what it could not write, and say next time that all is well: so it is said which
// lines are in doubt, whatever else goes wrong.
func (l *Log) sync() {
	if !l.dirty {
		return
	}
	now, err := time.Now(), l.target.Sync()
	if err == nil {
		l.synced = now
	} else if !l.doubt {
		l.logger.Error("lines of the audit log may be lost: its disk has failed", "since", l.synced.UTC(), "cause", err.Error())
	}
	l.dirty, l.doubt = err != nil, err != nil
	if err != nil || len(l.rest) == 0 { // else the last write says more
		l.judge(err)
	}
}

// replace goes on in a new target. A line of which the old one has a part only is
// written anew.
func (l *Log) replace() error {
	l.write()
	target, err := l.open()
	if err != nil {
		return fmt.Errorf("the audit log goes on in the file that is open: %w", err)
	}
	l.sync()
	if err := l.target.Close(); err != nil {
		l.logger.Error("the audit log goes on in a new file, but the old one could not be closed: see that it has its last lines",
			"cause", err.Error())
	}
	l.target, l.torn = target, 0
	l.write()
	return nil
}

// end closes the target.
func (l *Log) end() {
	l.sync()
	if len(l.rest) > 0 {
		l.logger.Error("lines of the audit log were not written", "lines", string(l.rest))
	}
	if err := l.target.Close(); err != nil {
		l.judge(err)
	}
}
