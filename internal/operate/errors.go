package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plantstore/models"
	"plantstore/storage"
)

// A wireError is an error as the socket transfers it: at the client, it matches what it did at the server.
type wireError struct {
	Sent      models.Error  `json:",embed"`
	Kind      string        `json:"kind,omitzero"`       // see kinds
	Stored    *models.Plant `json:"stored,omitzero"`     // of a taken id: the plant that has it, unless it is identical
	CorruptID *int64        `json:"corrupt_id,omitzero"` // of a [storage.CorruptError]
}

// Error returns the message.
func (f *wireError) Error() string { return f.Sent.Message }

// Unwrap returns the Error, and the error of its kind, if it has one.
func (f *wireError) Unwrap() []error {
	all := []error{&f.Sent}
	for _, k := range kinds() {
		if k.name == f.Kind {
			all = append(all, k.err)
		}
	}
	return all
}

// A kind is an error that commands match.
type kind struct {
	name string
	code models.Code
	err  error
}

// kinds returns all kinds. The first match applies.
func kinds() []kind {
	return []kind{
		{"unknown", models.CodeInternal, storage.ErrUnknown},
		{"corrupt", models.CodeInternal, storage.ErrCorrupt},
		{"not_found", models.CodeNotFound, storage.ErrNotFound},
		{"no_space", models.CodeInsufficientSpace, storage.ErrNoSpace},
		{"unavailable", models.CodeUnavailable, storage.ErrUnavailable},
	}
}

// errShutdown is the cause of an error that the context of a request has caused, unless the client
// has gone.
var errShutdown = errors.New("the server shuts down")

// encodeError encodes an error of the store.
func encodeError(ctx context.Context, err error) *wireError {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		outcome := storage.ErrUnavailable
		if errors.Is(err, storage.ErrUnknown) {
			outcome = storage.ErrUnknown
		}
		err = fmt.Errorf("%w: %w", outcome, errShutdown)
	}
	f := &wireError{Sent: *models.NewError(models.CodeInternal, err.Error())}
	if exists, ok := errors.AsType[*storage.ExistsError](err); ok {
		f.Sent.Code = models.CodeConflict
		if !exists.Identical {
			f.Stored = &exists.Stored
		}
		return f
	}
	if own, ok := errors.AsType[*models.Error](err); ok {
		f.Sent = *own
	}
	f.Sent.Message = strings.ToValidUTF8(f.Sent.Message, "")
	if i := slices.IndexFunc(kinds(), func(k kind) bool { return errors.Is(err, k.err) }); i >= 0 {
		f.Kind, f.Sent.Code = kinds()[i].name, kinds()[i].code
	}
	if corrupt, ok := errors.AsType[*storage.CorruptError](err); ok {
		f.CorruptID = &corrupt.ID
	}
	return f
}

// err returns what the store has returned at the server: nil for a line that is not a failure. An
// [storage.ExistsError] of an identical plant lacks Stored.
func (f *wireError) err() error {
	switch {
	case f.Sent.Code == 0:
		return nil
	case f.Sent.Code == models.CodeConflict && f.Stored != nil:
		return &storage.ExistsError{Stored: *f.Stored}
	case f.Sent.Code == models.CodeConflict:
		return &storage.ExistsError{Identical: true}
	case f.CorruptID != nil:
		return &storage.CorruptError{ID: *f.CorruptID, Err: f}
	}
	return f
}
