// Package retry repeats a commit over a network until its outcome is known.
package retry

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"plantstore/storage"
)

// A Token is the random token of one commit, which an engine stores with each plant.
// After an attempt with an unknown outcome, the next attempt detects by the token
// whether the stored plant is its own (C5.28).
type Token [16]byte

// An InsertFunc tries once to store the plants of a batch, and token with each. Its
// outcomes are those of Commit of a [storage.Engine], and a plant that is there already with
// the same token counts as stored by this call. Existing and Err of all items are nil
// before.
//
// If its error matches [storage.ErrUnknown], some plants may have been stored, or may be
// later, and another attempt can find out. [storage.ErrUnavailable] means that no plant was
// stored and another attempt may succeed; any other error, that none will. It returns
// soon after ctx has ended.
type InsertFunc func(ctx context.Context, token Token, batch []storage.Item) error

// A Policy repeats attempts until one succeeds, fails permanently, or the time is up.
type Policy struct {
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

// Commit commits a batch, as Commit of a [storage.Engine]. All attempts have the same token.
func (p Policy) Commit(batch []storage.Item, insert InsertFunc) (err error) {
	var token Token
	_, _ = rand.Read(token[:]) // it never fails
	var unknown error          // of an attempt that may have stored something
	p.repeat(context.Background(), func(ctx context.Context) (again bool) {
		for i := range batch { // drop what the last attempt has set
			batch[i].Existing, batch[i].Err = nil, nil
		}
		if err = insert(ctx, token, batch); errors.Is(err, storage.ErrUnknown) {
			unknown = err
		}
		return err != nil && (unknown != nil || errors.Is(err, storage.ErrUnavailable))
	})
	if err == nil || unknown == nil || errors.Is(err, storage.ErrUnknown) {
		return err
	}
	return fmt.Errorf("%w; and then: %s", unknown, err.Error()) // as text: errors.Is must match unknown only
}

// Read calls read until it succeeds, the function again returns false for its error, or the
// time is up: then Read returns [storage.ErrUnavailable]. When ctx has ended, it returns the error of
// ctx. The function read returns soon after its context has ended.
func (p Policy) Read(ctx context.Context, read func(ctx context.Context) error, again func(error) bool) error {
	err := ctx.Err()
	p.repeat(ctx, func(ctx context.Context) bool {
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
	return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
}

// repeat calls attempt until it returns false or the time is up.
func (p Policy) repeat(ctx context.Context, attempt func(ctx context.Context) (again bool)) {
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	for limit, pause := p.Attempt, firstPause; ctx.Err() == nil; limit, pause = limit+limit/4, min(2*pause, lastPause) {
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
