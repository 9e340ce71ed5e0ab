package control

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"plantstore/storage"
)

// The paths of the protocol, with its version.
const (
	pathReady    = "/v2/ready"
	pathPlants   = "/v2/plants"
	pathCount    = "/v2/count"
	pathSnapshot = "/v2/snapshot"
	pathReset    = "/v2/reset"

	paramFrom   = "from"    // of a list: the first id
	paramDryRun = "dry_run" // of creates

	// trailer contains the failure that ended a response early, in JSON.
	trailer = "Failure"
)

const (
	// batchPlants and batchBytes bound the creates of one request.
	batchPlants = 16_384
	batchBytes  = 4 << 20
	// maxExcess is the number of bytes of a too large request that are discarded, so that its
	// client reads the response: more than the largest plant.
	maxExcess = 80 << 20
)

// strict makes both sides refuse unknown properties, which may come from another version.
func strict() json.Options { return json.RejectUnknownMembers(true) }

// A failure is an encoded error.
type failure struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	// ID is the id of a [storage.CorruptError].
	ID *int64 `json:"id,omitzero"`
}

// The names of errors that are not in kinds.
const (
	kindIdentical = "identical"
	kindDifferent = "different"
	kindOther     = "other"
)

type kind struct {
	name string
	err  error
}

// kinds returns the errors that clients can match. The first match applies.
func kinds() []kind {
	return []kind{
		{"not_found", storage.ErrNotFound},
		{"audit_log", storage.ErrAuditLog},
		{"overloaded", storage.ErrOverloaded},
		{"no_space", storage.ErrNoSpace},
		{"unavailable", storage.ErrUnavailable},
		{"unknown", storage.ErrUnknown},
		{"too_large", storage.ErrRefused}, // the name in version 1.0
		{"unrecorded", storage.ErrUnrecorded},
		{"corrupt", storage.ErrCorrupt},
		{"canceled", context.Canceled},
		{"not_ephemeral", storage.ErrNotEphemeral},
		{"unsupported", errors.ErrUnsupported},
	}
}

// failureOf encodes err, which may be nil.
func failureOf(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Kind: kindOther, Message: err.Error()}
	if corrupt, ok := errors.AsType[*storage.CorruptError](err); ok {
		f.ID = &corrupt.ID
	}
	if exists, ok := errors.AsType[*storage.ExistsError](err); ok {
		f.Kind = kindDifferent
		if exists.Identical {
			f.Kind = kindIdentical
		}
		return f
	}
	for _, k := range kinds() {
		if errors.Is(err, k.err) {
			f.Kind = k.name
			break
		}
	}
	return f
}

// err decodes the error, nil for a nil failure.
func (f *failure) err() error {
	switch {
	case f == nil:
		return nil
	case f.Kind == kindIdentical, f.Kind == kindDifferent:
		return &storage.ExistsError{Identical: f.Kind == kindIdentical}
	}
	for _, k := range kinds() {
		if k.name != f.Kind {
			continue
		}
		err := &remoteError{message: f.Message, kind: k.err}
		if f.ID != nil && errors.Is(k.err, storage.ErrCorrupt) {
			return &storage.CorruptError{ID: *f.ID, Err: err}
		}
		return err
	}
	return fmt.Errorf("the server reports: %s", f.Message)
}

// A remoteError has the message of the server and matches its kind.
type remoteError struct {
	message string
	kind    error
}

func (e *remoteError) Error() string { return e.message }

func (e *remoteError) Unwrap() error { return e.kind }
