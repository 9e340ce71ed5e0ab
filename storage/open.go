package storage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
)

// ErrURL is the error of a storage URL that this program cannot open.
var ErrURL = errors.New("storage URL")

// Options are the settings of a store besides its location. Engines ignore options that
// do not apply to them.
type Options struct {
	// Logger gets the messages of the engine's background work; nil discards them.
	Logger *slog.Logger
	// ReadOnly opens the store for reading: files are neither created nor changed,
	// and creates are refused.
	ReadOnly bool
	// AllowCorrupt opens a store with corrupt files for reading, as far as that is
	// possible. Check reports the files that could not be opened.
	AllowCorrupt bool
	// Ephemeral allows Reset of the store, by engines that have it.
	Ephemeral bool
	// Queue bounds the queue of creates.
	Queue QueueLimits
	// JournalBytes is the size in bytes of the journal of an engine that has one, 0
	// for none.
	JournalBytes int64
}

// Log returns Logger, or else a logger that discards all messages.
func (o Options) Log() *slog.Logger {
	if o.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Logger
}

// An Opener opens the store at a location.
type Opener func(ctx context.Context, loc Location, options Options) (*Store, error)

// Engines are the openers of the available engines, by scheme.
type Engines map[string]Opener

// Open opens the store that a storage URL names. The URL itself, which may hold
// a password, is in none of its errors unless it is a path.
func (e Engines) Open(ctx context.Context, rawURL string, options Options) (*Store, error) {
	loc, err := ParseURL(rawURL)
	if err != nil {
		return nil, err
	}
	if err := e.Supports(loc); err != nil {
		return nil, err
	}
	return e[loc.Scheme](ctx, loc, options)
}

// Supports returns an error that matches [ErrURL] if no engine has the scheme of the
// location.
func (e Engines) Supports(loc Location) error {
	if _, ok := e[loc.Scheme]; ok {
		return nil
	}
	known := strings.Join(slices.Sorted(maps.Keys(e)), ", ")
	return fmt.Errorf("%w has the unknown scheme %q; known: %s (for a file with such a name write %s:PATH)",
		ErrURL, loc.Scheme, known, defaultScheme)
}
