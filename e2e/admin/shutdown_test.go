package admin

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// TestShutdown checks that in the delay after SIGTERM the server is not ready, but serves existing and new
// connections, which close after a response. A second SIGTERM ends the delay: the server accepts no
// connections, and reports that it is not ready while it drains requests; then it exits with 0.
func TestShutdown(t *testing.T) {
	t.Parallel()
	s := newSite(t, plantstore.Options{Env: []string{"SHUTDOWN_DELAY=1h", "SHUTDOWN_TIMEOUT=1m"}})
	old, release := plantstore.Dial(t, s.BaseURL), s.hold()
	create := func(conn *plantstore.Conn, id int, closes bool) {
		t.Helper()
		a := must.Get(conn.Do(plantstore.Create(s.token, fmt.Sprintf(`{"id":%d,"name":"fern"}`, id))))(t)
		if a.Status != http.StatusOK || a.Closes != closes {
			t.Errorf("create %d: %d %s, the connection closes: %t", id, a.Status, a.Body, a.Closes)
		}
	}
	create(old, 1, false)
	s.Terminate()
	s.AwaitLog("still serving")
	s.wantUnready("shutting down")
	create(old, 2, true)
	create(plantstore.Dial(t, s.BaseURL), 3, true)
	s.Terminate()
	plantstore.Await(t, "the server accepts no connections", func() bool {
		conn, err := plantstore.DialFrom(t.Context(), s.BaseURL, 1)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	s.wantUnready("shutting down")
	if a := release(); a.Status != http.StatusOK {
		t.Errorf("the request in flight: %d %s", a.Status, a.Body)
	}
	if code := s.AwaitExit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestSecondSignalEndsAtOnce checks that without a delay a second signal ends the server at once, even
// with requests in flight, and that an ephemeral server removes its plants.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	temporary := t.TempDir()
	s := newSite(t, plantstore.Options{Env: []string{"SHUTDOWN_TIMEOUT=1h"}})
	s.hold()
	s.endAtOnce(-1) // by the signal
	s = newSite(t, plantstore.Options{Env: []string{"SHUTDOWN_TIMEOUT=1h", "TMPDIR=" + temporary}, Args: []string{"--ephemeral"}})
	s.hold()
	s.endAtOnce(128 + int(syscall.SIGTERM))
	if left := must.Get(os.ReadDir(temporary))(t); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}
}

// endAtOnce sends SIGTERM until the server has exited with that code.
func (s *site) endAtOnce(want int) {
	s.t.Helper()
	s.Terminate()
	s.AwaitLog("shutting down")
	plantstore.Await(s.t, "the server has exited", func() bool {
		s.Terminate() // it may still be about to stop catching signals
		select {
		case <-s.Exited():
			return true
		default:
			return false
		}
	})
	if code := s.AwaitExit(); code != want {
		s.t.Errorf("exit code %d, want %d", code, want)
	}
}

// TestReadyAfterFault checks the state of a server after the loss of its database.
func TestReadyAfterFault(t *testing.T) {
	t.Parallel()
	s := newSite(t, plantstore.Options{Env: []string{"SHUTDOWN_TIMEOUT=1m"}})
	s.wantStop(3, "the database is corrupt: the store stopped itself after a fault", func() {
		must.Do(t, os.Remove(filepath.Join(s.Dir, "data", "plants.db")))
	})
}

// TestCrowd checks that idle connections do not keep others out, that they are closed after five
// seconds, and that an Error closes its connection.
func TestCrowd(t *testing.T) {
	t.Parallel()
	s := newSite(t, plantstore.Options{})
	var all []*plantstore.Conn
	for range 500 {
		all = append(all, plantstore.Dial(t, s.AdminURL))
	}
	for host, status := range map[string]int{"localhost": http.StatusOK, "example.com": http.StatusBadRequest} {
		conn := plantstore.Dial(t, s.AdminURL)
		if a := must.Get(conn.Do("GET /livez HTTP/1.1\r\nHost: " + host + "\r\n\r\n"))(t); a.Status != status {
			t.Errorf("%s: %d %s, want %d", host, a.Status, a.Body, status)
		}
		all = append(all, conn)
	}
	for _, conn := range all {
		if _, err := io.Copy(io.Discard, conn.In); os.IsTimeout(err) {
			t.Fatal("a connection stays open")
		}
	}
}
