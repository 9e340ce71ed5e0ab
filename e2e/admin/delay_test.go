package admin

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/must"
	"plantstore/e2e/internal/plantstore"
)

// createOn creates a plant over a connection, and returns whether the response announces
// that the connection closes.
func (s *site) createOn(conn net.Conn, id int) (closes bool) {
	s.t.Helper()
	body := fmt.Sprintf(`{"id":%d,"name":"fern"}`, id)
	fmt.Fprintf(conn, "POST /plants HTTP/1.1\r\nHost: plants\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		s.token, len(body), body)
	response := must.Get(http.ReadResponse(bufio.NewReader(conn), nil))(s.t)
	if a, err := plantstore.Read(response); err != nil || a.Status != http.StatusOK {
		s.t.Errorf("create %d: %d %s, %v", id, a.Status, a.Body, err)
	}
	return response.Close
}

// TestShutdownDelay checks that in the delay after SIGTERM the server is not ready, but serves
// existing and new connections, which close after a response. A second SIGTERM ends the delay.
func TestShutdownDelay(t *testing.T) {
	t.Parallel()
	s := newSite(t, plantstore.Options{Env: []string{"SHUTDOWN_DELAY=1h"}})
	old := dial(t, s.BaseURL)
	if s.createOn(old, 1) {
		t.Error("before SIGTERM a response announces that the connection closes")
	}
	s.Terminate()
	s.await("not ready", func() bool { return s.probe("/readyz").Status != http.StatusOK })
	s.await("logged", func() bool { return strings.Contains(s.Log(), "still serving") })
	s.wantUnready("shutting down")
	s.wantAlive()
	for i, conn := range []net.Conn{old, dial(t, s.BaseURL), dial(t, s.BaseURL)} {
		if !s.createOn(conn, 2+i) {
			t.Errorf("connection %d: the response does not announce that it closes", i)
		}
	}
	s.Terminate()
	s.awaitEnd(0)
}

// TestShutdownDelayEnds checks that without a second signal the server exits after the delay.
func TestShutdownDelayEnds(t *testing.T) {
	t.Parallel()
	const delay = time.Second
	s := newSite(t, plantstore.Options{Env: []string{"SHUTDOWN_DELAY=" + delay.String()}})
	start := time.Now()
	s.Terminate()
	s.awaitEnd(0)
	if took := time.Since(start); took < delay {
		t.Errorf("the server exited after %v, want at least %v", took, delay)
	}
}
