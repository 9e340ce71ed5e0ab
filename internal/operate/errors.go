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

// A failure is an error of the store as an Error.
type failure struct {
	models.Error `json:",embed"`

	Kind      string        `json:"kind,omitzero"`       // see kinds
	Stored    *models.Plant `json:"stored,omitzero"`     // of a taken id: the plant that has it, unless it is identical
	CorruptID *int64        `json:"corrupt_id,omitzero"` // of a [storage.CorruptError]
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

// failureOf encodes an error of the store.
func failureOf(ctx context.Context, err error) *failure {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		outcome := storage.ErrUnavailable
		if errors.Is(err, storage.ErrUnknown) {
			outcome = storage.ErrUnknown
		}
		err = fmt.Errorf("%w: %w", outcome, errShutdown)
	}
	f := &failure{Error: *models.NewError(models.CodeInternal, err.Error())}
	if exists, ok := errors.AsType[*storage.ExistsError](err); ok {
		f.Code = models.CodeConflict
		if !exists.Identical {
			f.Stored = &exists.Stored
		}
		return f
	}
	if own, ok := errors.AsType[*models.Error](err); ok {
		f.Error = *own
	}
	f.Message = strings.ToValidUTF8(f.Message, "")
	if i := slices.IndexFunc(kinds(), func(k kind) bool { return errors.Is(err, k.err) }); i >= 0 {
		f.Kind, f.Code = kinds()[i].name, kinds()[i].code
	}
	if corrupt, ok := errors.AsType[*storage.CorruptError](err); ok {
		f.CorruptID = &corrupt.ID
	}
	return f
}

// err decodes the error: nil for a line that is not a failure. An [storage.ExistsError] of an identical
// plant lacks Stored.
func (f *failure) err() error {
	switch {
	case f.Code == 0:
		return nil
	case f.Code == models.CodeConflict && f.Stored != nil:
		return &storage.ExistsError{Stored: *f.Stored}
	case f.Code == models.CodeConflict:
		return &storage.ExistsError{Identical: true}
	}
	remote := &remoteError{sent: f.Error}
	if i := slices.IndexFunc(kinds(), func(k kind) bool { return k.name == f.Kind }); i >= 0 {
		remote.kind = kinds()[i].err
	}
	if f.CorruptID != nil {
		return &storage.CorruptError{ID: *f.CorruptID, Err: remote}
	}
	return remote
}

// A remoteError is the Error of the server. It matches its kind, if there is one.
type remoteError struct {
	sent models.Error
	kind error
}

// Error returns the message.
func (e *remoteError) Error() string { return e.sent.Message }

// Is reports whether the error is of a kind.
func (e *remoteError) Is(target error) bool { return errors.Is(e.kind, target) }

// Unwrap returns the Error.
func (e *remoteError) Unwrap() error { return &e.sent }
