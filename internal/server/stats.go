package server

import (
	"sync/atomic"

	"plantstore/models"
)

// counters count connections, and responses without a call of the handler.
type counters struct {
	accepted, turnedAway atomic.Uint64
	waiting              atomic.Int64 // connections without a request, not with net/http
	refused              ErrorCounts
}

// Stats are the statistics of a [Server].
type Stats struct {
	// Open is the number of connections at this moment, without those beyond Limit,
	// which is Config.MaxConnections.
	Open, Limit int
	// Accepted is the number of connections that were accepted, and TurnedAway of
	// the connections among them that were beyond the limit.
	Accepted, TurnedAway uint64
	// Refused counts the Errors that no handler has responded with.
	Refused *ErrorCounts
}

// ErrorCounts counts Errors by their codes. The zero value is ready.
type ErrorCounts struct {
	counts [models.CodeInsufficientSpace - models.CodeBadRequest + 1]atomic.Uint64
}

// Add counts an Error. An unknown code counts as [models.CodeInternal].
func (e *ErrorCounts) Add(code models.Code) {
	i := int(code - models.CodeBadRequest)
	if i < 0 || i >= len(e.counts) {
		i = int(models.CodeInternal - models.CodeBadRequest)
	}
	e.counts[i].Add(1)
}

// Count returns the number of Errors with a known code.
func (e *ErrorCounts) Count(code models.Code) uint64 {
	return e.counts[code-models.CodeBadRequest].Load()
}
