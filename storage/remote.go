package storage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"
)

// A Request is the token of one commit, random, which a remote engine stores
// with each plant. When it is not known what became of an attempt, the next one
// finds out by it whether the plant that is there is our own (C5.28).
type Request [16]byte

// NewRequest returns a token that no other commit has.
func NewRequest() (request Request) {
	_, _ = rand.Read(request[:]) // it never fails
	return request
}

// An InsertFunc tries once to store the plants of a batch, with request beside
// each. Its outcomes are those of a [CommitFunc], and a plant that is there
// already with the same request counts as stored by this very call. It sets
// Existing and Err of every item anew if it returns nil.
//
// If it returns an error that matches [ErrUnknown], some plants may have been
// stored, or may still be, and trying again tells. [ErrUnavailable] means that
// nothing was stored and trying again may help; any other error, that it does
// not. It returns soon after ctx has ended.
type InsertFunc func(ctx context.Context, request Request, batch []Item) error

// A Remote commits the batches of an engine at the other end of a network, where
// an attempt can end without anybody knowing what became of it. It tries again
// until it knows, or until its time is up. No attempt is repeated blindly: all
// carry the same request.
type Remote struct {
	Insert InsertFunc
	// Timeout bounds a commit, with all its attempts.
	Timeout time.Duration
	// Patience bounds the first attempt. Each further one gets a quarter more: a
	// slow cluster is not swamped with attempts, and one that is back is noticed
	// soon.
	Patience time.Duration
}

// The pauses between attempts that fail at once double from the first on, up to
// the last.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = 200 * time.Millisecond
)

// Commit is a [CommitFunc].
func (r Remote) Commit(batch []Item) error {
	ctx, cancel := context.WithTimeout(context.Background(), r.Timeout)
	defer cancel()
	request, patience, pause := NewRequest(), r.Patience, firstPause
	var doubt error // of an attempt that may have stored something
	for {
		err := r.attempt(ctx, patience, request, batch)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrUnknown):
			doubt = err
		case doubt == nil && !errors.Is(err, ErrUnavailable):
			return err
		}
		if !Sleep(ctx, pause) {
			return final(err, doubt)
		}
		patience = min(patience+patience/4, r.Timeout)
		pause = min(2*pause, lastPause)
	}
}

// attempt calls Insert with its share of the time that is left.
func (r Remote) attempt(ctx context.Context, patience time.Duration, request Request, batch []Item) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return r.Insert(ctx, request, batch)
}

// final returns the error of a commit whose time is up: that of its last
// attempt, unless an earlier one left a doubt.
func final(last, doubt error) error {
	if doubt == nil || errors.Is(last, ErrUnknown) {
		return last
	}
	return fmt.Errorf("%w; and then: %s", doubt, last.Error()) // which must not match
}

// Sleep waits, and reports whether ctx was still alive after that.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
