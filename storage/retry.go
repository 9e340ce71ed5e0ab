package storage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"
)

// A CommitToken is the random token of one commit, which a remote engine stores with
// each plant. After an attempt with an unknown outcome, the next attempt detects by the token
// whether the stored plant is its own (C5.28).
type CommitToken [16]byte

// An InsertFunc tries once to store the plants of a batch, and token with each. Its
// outcomes are those of Commit of an [Engine], and a plant that is there already with
// the same token counts as stored by this call. Existing and Err of all items are nil
// before.
//
// If its error matches [ErrUnknown], some plants may have been stored, or may be
// later, and another attempt can find out. [ErrUnavailable] means that no plant was
// stored and another attempt may succeed; any other error, that none will. It returns
// soon after ctx has ended.
type InsertFunc func(ctx context.Context, token CommitToken, batch []Item) error

// A Retry repeats attempts of a remote engine, whose outcome can be unknown, until
// one succeeds, fails permanently, or the time is up.
type Retry struct {
	// Timeout bounds a commit or a read, with all its attempts.
	Timeout time.Duration
	// Attempt bounds the first attempt. Further attempts get more, so that a slow
	// cluster is not swamped with them, and a cluster that is back is noticed soon.
	Attempt time.Duration
}

const (
	// The pauses between attempts to commit that fail at once double from the first
	// one up to the last.
	firstPause = 5 * time.Millisecond
	lastPause  = 200 * time.Millisecond
	// readPause is the pause between two attempts to read.
	readPause = 50 * time.Millisecond
)

// Commit commits a batch, as Commit of an [Engine]. All attempts have the same token.
func (r Retry) Commit(batch []Item, insert InsertFunc) error {
	ctx, cancel := context.WithTimeout(context.Background(), r.Timeout)
	defer cancel()
	var token CommitToken
	_, _ = rand.Read(token[:]) // it never fails
	limit, pause := r.Attempt, firstPause
	var unknown error // of an attempt that may have stored something
	for {
		for i := range batch { // drop what the last attempt has set
			batch[i].Existing, batch[i].Err = nil, nil
		}
		err := within(ctx, limit, func(ctx context.Context) error { return insert(ctx, token, batch) })
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrUnknown):
			unknown = err
		case unknown == nil && !errors.Is(err, ErrUnavailable):
			return err
		}
		if !sleep(ctx, pause) {
			return lastError(err, unknown)
		}
		limit = min(limit+limit/4, r.Timeout)
		pause = min(2*pause, lastPause)
	}
}

// lastError returns the error of a commit that has timed out: the error of its last
// attempt, unless the outcome of an earlier one is unknown.
func lastError(last, unknown error) error {
	if unknown == nil || errors.Is(last, ErrUnknown) {
		return last
	}
	return fmt.Errorf("%w; and then: %s", unknown, last.Error()) // as text: errors.Is must match unknown only
}

// Read calls read until it succeeds, the function again returns false for its error, or the
// time is up: then Read returns [ErrUnavailable]. When ctx has ended, it returns the error of
// ctx. The function read returns soon after its context has ended.
func (r Retry) Read(ctx context.Context, read func(ctx context.Context) error, again func(error) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	inTime, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	for limit := r.Attempt; ; limit = min(2*limit, r.Timeout) {
		err := within(inTime, limit, read)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !again(err) || !sleep(inTime, readPause):
			return fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
	}
}

// within calls f with at most limit of the time that ctx has left.
func within(ctx context.Context, limit time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return f(ctx)
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
