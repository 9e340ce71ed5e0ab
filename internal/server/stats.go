package server

import (
	"sync/atomic"

	"plantstore/internal/meter"
)

// counted is what a server counts of what its handler does not see.
type counted struct {
	accepted, turnedAway atomic.Uint64
	parked               atomic.Int64 // connections at this moment
	refused              meter.Errors
}

// Stats are what a [Server] has counted.
type Stats struct {
	// Open is the number of connections at this moment, and Limit that of
	// Config.MaxConnections.
	Open, Limit int
	// Accepted is the number of all connections so far, and TurnedAway that of
	// those among them for which there was no place.
	Accepted, TurnedAway uint64
	// Refused counts the Errors that no handler has answered with.
	Refused *meter.Errors
}

// Stats returns what has been counted so far.
func (s *Server) Stats() Stats {
	return Stats{
		Open: len(s.places.regular), Limit: s.config.MaxConnections,
		Accepted: s.counted.accepted.Load(), TurnedAway: s.counted.turnedAway.Load(),
		Refused: &s.counted.refused,
	}
}
