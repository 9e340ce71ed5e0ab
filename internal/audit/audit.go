// Package audit notes who created which plant. A create succeeds only when its
// line is written; while none can be, nothing is created.
package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"plantstore/internal/jsonlog"
	"plantstore/models"
	"plantstore/storage"
)

// The events.
const (
	created = "created"
	unknown = "unknown" // it is not known whether the plant was stored
)

// A Store is a store whose creates are noted in a log.
type Store struct {
	storage.Store

	log     *Log
	creates sync.RWMutex // held for reading by each create
}

// NewStore returns store, with its creates noted in log, both of which Close closes.
func NewStore(store storage.Store, log *Log) *Store { return &Store{Store: store, log: log} }

// Create is [storage.Store.Create] on behalf of the author in ctx. Beyond that, it
// returns [storage.ErrUnavailable], [storage.ErrNoSpace] or [storage.ErrOverloaded]
// while the log cannot be written, and [storage.ErrUnrecorded] if it could not be
// any more when the plant was stored.
func (s *Store) Create(ctx context.Context, id int64, plant models.Plant) error {
	s.creates.RLock()
	defer s.creates.RUnlock()
	if err := s.log.ready(); err != nil {
		return err
	}
	err := s.Store.Create(ctx, id, plant)
	if event := eventOf(err); event != "" {
		author := storage.AuthorOf(ctx)
		noted := s.log.append(ctx, func(lines []byte, now time.Time) []byte { return appendLine(lines, now, event, id, author) })
		return outcome(err, noted)
	}
	return err
}

// CreateAll is [storage.Store.CreateAll], with outcomes as of Create.
func (s *Store) CreateAll(ctx context.Context, records []storage.Record) []error {
	s.creates.RLock()
	defer s.creates.RUnlock()
	if err := s.log.ready(); err != nil {
		return slices.Repeat([]error{err}, len(records))
	}
	outcomes := s.Store.CreateAll(ctx, records)
	author := storage.AuthorOf(ctx)
	noted := s.log.append(ctx, func(lines []byte, now time.Time) []byte {
		for i, err := range outcomes {
			if event := eventOf(err); event != "" {
				lines = appendLine(lines, now, event, records[i].ID, author)
			}
		}
		return lines
	})
	for i, err := range outcomes {
		outcomes[i] = outcome(err, noted)
	}
	return outcomes
}

// Ready is [storage.Store.Ready].
func (s *Store) Ready() error {
	return cmp.Or(s.Store.Ready(), s.log.ready())
}

// Close is [storage.Store.Close]. What it commits is still noted.
func (s *Store) Close() error {
	err := s.Store.Close()
	s.creates.Lock()
	defer s.creates.Unlock()
	return errors.Join(err, s.log.Close())
}

// Snapshot is [storage.Snapshotter.Snapshot] of a store that can do so, and else
// [errors.ErrUnsupported].
func (s *Store) Snapshot(ctx context.Context, w io.Writer) error {
	snapshotter, ok := s.Store.(storage.Snapshotter)
	if !ok {
		return fmt.Errorf("this engine copies no store: %w", errors.ErrUnsupported)
	}
	return snapshotter.Snapshot(ctx, w)
}

// Stats is [storage.Observable.Stats] of a store that counts, and else nothing.
func (s *Store) Stats() storage.Stats {
	if observable, ok := s.Store.(storage.Observable); ok {
		return observable.Stats()
	}
	return storage.Stats{}
}

// eventOf returns what is noted of a create with that outcome, "" if nothing.
func eventOf(err error) string {
	switch {
	case err == nil:
		return created
	case errors.Is(err, storage.ErrUnknown):
		return unknown
	}
	return ""
}

// outcome returns the outcome of a create whose line was noted, or why not.
func outcome(err, noted error) error {
	if err == nil {
		return noted
	}
	return err
}

// lineStart is how each line begins.
const lineStart = `{"time":"`

// appendLine appends a line of JSON: what became of the create of a plant, when,
// and on whose behalf.
func appendLine(lines []byte, now time.Time, event string, id int64, author *storage.Author) []byte {
	lines = append(lines, lineStart...)
	lines = appendTime(lines, now)
	lines = append(lines, `","event":"`...)
	lines = append(lines, event...)
	lines = append(lines, `","id":`...)
	lines = strconv.AppendInt(lines, id, 10)
	if author == nil {
		return append(lines, `,"by":"operator"}`+"\n"...)
	}
	lines = appendString(append(lines, `,"by":"token","subject":`...), author.Subject)
	lines = appendString(append(lines, `,"request_id":`...), author.RequestID)
	lines = appendString(append(lines, `,"remote":`...), author.Remote)
	return append(lines, "}\n"...)
}

// appendTime appends a time, which is in UTC, with six digits after the point. A
// layout that says so would take three times as long.
func appendTime(lines []byte, now time.Time) []byte {
	lines = now.AppendFormat(lines, time.RFC3339)
	zone := len(lines) - len("Z")
	lines = strconv.AppendInt(lines[:zone], int64(1_000_000+now.Nanosecond()/1_000), 10)
	lines[zone] = '.' // where the million is
	return append(lines, 'Z')
}

// appendString appends a string in JSON, with U+FFFD for what is no UTF-8.
func appendString(lines []byte, s string) []byte {
	if plain, ok := jsonlog.AppendPlain(lines, s); ok {
		return plain
	}
	lines, _ = jsontext.AppendQuote(lines, s) // its only error is about that
	return lines
}
