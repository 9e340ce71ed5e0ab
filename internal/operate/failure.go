package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plantstore/internal/plantio"
	"plantstore/models"
	"plantstore/storage"
)

// A failure is an error of the store as an Error.
type failure struct {
	models.Error `json:",embed"`

	Stored    *models.Plant `json:"stored,omitzero"`     // of a taken id: the plant that has it, unless it is identical
	Unknown   bool          `json:"unknown,omitzero"`    // whether it is [storage.ErrUnknown]
	Corrupt   bool          `json:"corrupt,omitzero"`    // whether it is [storage.ErrCorrupt]
	CorruptID *int64        `json:"corrupt_id,omitzero"` // of a [storage.CorruptError]
}

// codes returns the errors that commands match by their code. The first match applies.
func codes() []codedError {
	return []codedError{
		{models.CodeNotFound, storage.ErrNotFound},
		{models.CodeUnprocessable, plantio.ErrRefused},
		{models.CodeInsufficientSpace, storage.ErrNoSpace},
		{models.CodeUnavailable, storage.ErrUnavailable},
	}
}

type codedError struct {
	code models.Code
	err  error
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
	f := &failure{
		Error: *models.NewError(models.CodeInternal, err.Error()), Unknown: errors.Is(err, storage.ErrUnknown), Corrupt: errors.Is(err, storage.ErrCorrupt),
	}
	if own, ok := errors.AsType[*models.Error](err); ok {
		f.Error = *own
	}
	f.Message = strings.ToValidUTF8(f.Message, "")
	if corrupt, ok := errors.AsType[*storage.CorruptError](err); ok {
		f.CorruptID = &corrupt.ID
	}
	if exists, ok := errors.AsType[*storage.ExistsError](err); ok {
		f.Code = models.CodeConflict
		if !exists.Identical {
			f.Stored = &exists.Stored
		}
	}
	for _, c := range codes() {
		if errors.Is(err, c.err) {
			f.Code = c.code
			break
		}
	}
	return f
}

// err decodes the error: nil for a line that is not a failure. An [storage.ExistsError] of an identical
// plant lacks Stored.
func (f *failure) err() error {
	remote := &remoteError{sent: f.Error}
	switch {
	case f.Code == 0:
		return nil
	case f.Code == models.CodeConflict && f.Stored != nil:
		return &storage.ExistsError{Stored: *f.Stored}
	case f.Code == models.CodeConflict:
		return &storage.ExistsError{Identical: true}
	case f.Unknown:
		remote.kind = storage.ErrUnknown
	case f.Corrupt:
		remote.kind = storage.ErrCorrupt
		if f.CorruptID != nil {
			return &storage.CorruptError{ID: *f.CorruptID, Err: remote}
		}
	}
	for _, c := range codes() {
		if c.code == f.Code {
			remote.kind = c.err
		}
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
