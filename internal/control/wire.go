package control

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"plantstore/storage"
)

// The paths of the interface. A server of another version may have others.
const (
	pathReady    = "/v2/ready"
	pathPlants   = "/v2/plants"
	pathCount    = "/v2/count"
	pathSnapshot = "/v2/snapshot"

	paramFrom   = "from"    // of a list: the first id
	paramDryRun = "dry_run" // of creates

	// trailer carries what ended a stream before its end, as a failure in JSON.
	trailer = "Failure"
)

const (
	// batchPlants and batchBytes bound what is created in one request.
	batchPlants = 16_384
	batchBytes  = 4 << 20
	// maxExcess is how much of a request that is too large is passed over, so that
	// its client gets to read the answer: more than the largest plant has.
	maxExcess = 80 << 20
)

// strict makes both sides refuse members that they do not know: what one of
// another version has sent must not be taken for less than it is.
func strict() json.Options { return json.RejectUnknownMembers(true) }

// A failure is an error on its way through the socket.
type failure struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// The kinds of errors of a store beside those that kinds returns.
const (
	kindIdentical = "identical"
	kindDifferent = "different"
	kindOther     = "other"
)

// A kind is the name of an error that the other side can match.
type kind struct {
	name string
	err  error
}

// kinds returns those of errors that are values. The first that matches counts.
func kinds() []kind {
	return []kind{
		{"not_found", storage.ErrNotFound},
		{"audit_log", storage.ErrAuditLog},
		{"overloaded", storage.ErrOverloaded},
		{"no_space", storage.ErrNoSpace},
		{"unavailable", storage.ErrUnavailable},
		{"unknown", storage.ErrUnknown},
		{"too_large", storage.ErrTooLarge},
		{"unrecorded", storage.ErrUnrecorded},
		{"corrupt", storage.ErrCorrupt},
		{"canceled", context.Canceled},
		{"unsupported", errors.ErrUnsupported},
	}
}

// failureOf returns err as it goes through the socket, or nil.
func failureOf(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Kind: kindOther, Message: err.Error()}
	var exists *storage.ExistsError
	switch {
	case errors.As(err, &exists) && exists.Identical:
		f.Kind = kindIdentical
	case exists != nil:
		f.Kind = kindDifferent
	default:
		all := kinds()
		if i := slices.IndexFunc(all, func(k kind) bool { return errors.Is(err, k.err) }); i >= 0 {
			f.Kind = all[i].name
		}
	}
	return f
}

// err returns the error that has come through the socket, or nil.
func (f *failure) err() error {
	switch {
	case f == nil:
		return nil
	case f.Kind == kindIdentical, f.Kind == kindDifferent:
		return &storage.ExistsError{Identical: f.Kind == kindIdentical}
	}
	for _, k := range kinds() {
		if k.name == f.Kind {
			return &remoteError{message: f.Message, kind: k.err}
		}
	}
	return fmt.Errorf("the server says: %s", f.Message)
}

// A remoteError has the server's words and matches its kind.
type remoteError struct {
	message string
	kind    error
}

func (e *remoteError) Error() string { return e.message }

func (e *remoteError) Unwrap() error { return e.kind }
