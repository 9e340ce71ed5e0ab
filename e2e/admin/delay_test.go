package admin

import (
	"fmt"
	"net/http"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// createOn creates a plant over a connection, and returns whether the response announces
// that the connection closes.
func (s *site) createOn(conn *plantstore.Conn, id int) (closes bool) {
	s.t.Helper()
	a := must.Get(conn.Do(plantstore.Create(s.token, fmt.Sprintf(`{"id":%d,"name":"fern"}`, id))))(s.t)
	if a.Status != http.StatusOK {
		s.t.Errorf("create %d: %d %s", id, a.Status, a.Body)
	}
	return a.Closes
}

// TestShutdownDelay checks that in the delay after SIGTERM the server is not ready, but serves
// existing and new connections, which close after a response. A second SIGTERM ends the delay.
func TestShutdownDelay(t *testing.T) {
	t.Parallel()
	s := newSite(t, plantstore.Options{Env: []string{"SHUTDOWN_DELAY=1h"}})
	old := plantstore.Dial(t, s.BaseURL)
	if s.createOn(old, 1) {
		t.Error("before SIGTERM a response announces that the connection closes")
	}
	s.Terminate()
	plantstore.Await(t, "not ready", func() bool { return s.probe("/readyz").Status != http.StatusOK })
	s.AwaitLog("still serving")
	s.wantUnready("shutting down")
	s.wantAlive()
	for i, conn := range []*plantstore.Conn{old, plantstore.Dial(t, s.BaseURL), plantstore.Dial(t, s.BaseURL)} {
		if !s.createOn(conn, 2+i) {
			t.Errorf("connection %d: the response does not announce that it closes", i)
		}
	}
	s.Terminate()
	s.awaitEnd(0)
}

// TestSecondSignalEndsAtOnce checks that a second signal ends the server at once, even with
// requests in flight.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, plantstore.Options{Env: []string{"SHUTDOWN_TIMEOUT=1h"}})
	s.hold(`{"id":1,"name":"Monstera"}`)
	s.Terminate()
	s.AwaitLog("shutting down")
	plantstore.Await(t, "the server has exited", func() bool {
		s.Terminate() // it may still be about to stop catching signals
		select {
		case <-s.Exited():
			return true
		default:
			return false
		}
	})
	s.awaitEnd(-1) // by the signal
}
