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
	// Attempt bounds the first attempt. Each further one gets a quarter more, so that a slow
	// cluster is not swamped with them, and a cluster that is back is noticed soon.
	Attempt time.Duration
}

// The pauses between attempts that fail at once double from the first one up to the last.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = 200 * time.Millisecond
)

// Commit commits a batch, as Commit of an [Engine]. All attempts have the same token.
func (r Retry) Commit(batch []Item, insert InsertFunc) (err error) {
	var token CommitToken
	_, _ = rand.Read(token[:]) // it never fails
	var unknown error          // of an attempt that may have stored something
	r.repeat(context.Background(), func(ctx context.Context) (again bool) {
		for i := range batch { // drop what the last attempt has set
			batch[i].Existing, batch[i].Err = nil, nil
		}
		if err = insert(ctx, token, batch); errors.Is(err, ErrUnknown) {
			unknown = err
		}
		return err != nil && (unknown != nil || errors.Is(err, ErrUnavailable))
	})
	if err == nil || unknown == nil || errors.Is(err, ErrUnknown) {
		return err
	}
	return fmt.Errorf("%w; and then: %s", unknown, err.Error()) // as text: errors.Is must match unknown only
}

// Read calls read until it succeeds, the function again returns false for its error, or the
// time is up: then Read returns [ErrUnavailable]. When ctx has ended, it returns the error of
// ctx. The function read returns soon after its context has ended.
func (r Retry) Read(ctx context.Context, read func(ctx context.Context) error, again func(error) bool) error {
	err := ctx.Err()
	r.repeat(ctx, func(ctx context.Context) bool {
		last := read(ctx)
		if last == nil || err == nil || !errors.Is(last, context.DeadlineExceeded) { // which explains less than an earlier error
			err = last
		}
		return last != nil && again(last)
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// repeat calls attempt until it returns false or the time is up.
func (r Retry) repeat(ctx context.Context, attempt func(ctx context.Context) (again bool)) {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	for limit, pause := r.Attempt, firstPause; ctx.Err() == nil; limit, pause = limit+limit/4, min(2*pause, lastPause) {
		limited, end := context.WithTimeout(ctx, limit)
		again := attempt(limited)
		end()
		if !again {
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}
