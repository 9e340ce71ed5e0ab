package server

import (
	"testing"

	"plantstore/models"
)

// TestStats checks that connections, connections beyond the limit, and error responses of the
// server itself are counted.
func TestStats(t *testing.T) {
	t.Parallel()
	s := start(t, only(1))
	if got := s.Stats(); got.Open != 0 || got.Limit != 1 || got.Accepted != 0 {
		t.Errorf("at first: %+v", got)
	}
	first := s.hold(t)
	s.dial(t).send(good).wantRefusal(models.CodeUnavailable)
	got := s.Stats()
	if got.Open != 1 || got.Accepted != 2 || got.TurnedAway != 1 || got.Refused.Count(models.CodeUnavailable) != 1 {
		t.Errorf("with a rejected connection: %+v", got)
	}
	first.send("garbage\r\n\r\n").wantRefusal(models.CodeBadRequest)
	if n := s.Stats().Refused.Count(models.CodeBadRequest); n != 1 {
		t.Errorf("%d requests are counted as malformed, want 1", n)
	}
	_ = first.Close()
	s.waitForSlot(t) // by another connection
	if got := s.Stats(); got.Accepted < 3 || got.Refused.Count(models.CodeBadRequest) != 1 {
		t.Errorf("after all: %+v", got)
	}
}
