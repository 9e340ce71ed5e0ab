package storage

import (
	"cmp"
	"log/slog"
)

// Options are the settings of a store besides its location. Engines ignore options that
// do not apply to them.
type Options struct {
	// Logger gets the messages of the store and of its engine; nil discards them.
	Logger *slog.Logger
	// ReadOnly opens the store for reading: files are neither created nor changed,
	// and creates are refused.
	ReadOnly bool
	// AllowCorrupt opens a store with corrupt files for reading, as far as that is
	// possible. Check reports the files that could not be opened, and missing commits.
	AllowCorrupt bool
	// QueuePlants bounds the plants that wait for a batch, 10,000 by default, and QueueBytes
	// the bytes of their names and tags, 64 MiB. A single plant may be larger.
	QueuePlants, QueueBytes int
	// JournalBytes is the size in bytes of the journal of an engine that has one, 0
	// for none.
	JournalBytes int64
}

// Log returns Logger, or else a logger that discards all messages.
func (o Options) Log() *slog.Logger { return cmp.Or(o.Logger, slog.New(slog.DiscardHandler)) }
