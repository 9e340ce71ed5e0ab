package admin

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
	"plantstore/models"
)

// TestReadyWhileStopping checks that a server that is shut down reports that it is not ready
// before it stops accepting connections, and while it drains requests; then it exits with 0.
func TestReadyWhileStopping(t *testing.T) {
	t.Parallel()
	s := newSite(t, plantstore.Options{Env: []string{"SHUTDOWN_TIMEOUT=1m", "LOG_LEVEL=error"}})
	h := s.hold(`{"id":-1,"name":"the last one"}`)
	s.Terminate()
	plantstore.Await(t, "the server accepts no connections", func() bool {
		conn, err := plantstore.DialFrom(t.Context(), s.BaseURL, 1)
		if err == nil {
			_ = conn.Close()
		}
		if a := s.probe("/readyz"); err != nil && a.Status != http.StatusBadRequest {
			t.Errorf("the server accepts no connection, and /readyz returns %s", a.Body)
		}
		return err != nil
	})
	s.wantUnready("shutting down")
	s.wantAlive()
	if a := h.release(); a.Status != http.StatusOK {
		t.Errorf("the request in flight: %d %s", a.Status, a.Body)
	}
	s.awaitEnd(0)
}

// TestReadyAfterFault checks that after the store has stopped itself, the probes report this
// until requests are drained; then the process exits.
func TestReadyAfterFault(t *testing.T) {
	t.Parallel()
	s := newSite(t, plantstore.Options{Env: []string{"SHUTDOWN_TIMEOUT=1m"}})
	h := s.hold(`{"id":1,"name":"Monstera"}`)
	if s.Metrics()["plantstore_store_stopped"] != 0 {
		t.Error("the store has stopped before anything happened")
	}
	must.Do(t, os.Remove(filepath.Join(s.Dir, "data", "plants.db")))
	plantstore.Await(t, "not ready", func() bool { return s.probe("/readyz").Status != http.StatusOK })
	s.wantUnready("the disk or the database file has failed: the store stopped itself after a fault")
	s.wantAlive()
	if s.Metrics()["plantstore_store_stopped"] != 1 {
		t.Error("plantstore_store_stopped is not 1")
	}
	if a := h.release(); a.Status != http.StatusBadRequest || a.Code != models.CodeUnavailable {
		t.Errorf("the request in flight: %d %s", a.Status, a.Body)
	}
	s.awaitEnd(1)
}

// TestListenersAreApart checks that neither listener serves the paths of the other, and that
// without an admin listener its paths do not exist.
func TestListenersAreApart(t *testing.T) {
	t.Parallel()
	s := newSite(t, plantstore.Options{})
	for _, path := range []string{"/livez", "/readyz", "/metrics"} {
		if a := s.Get(s.BaseURL + path); a.Status != http.StatusBadRequest || a.Code != models.CodeNotFound {
			t.Errorf("%s for clients: %d %s", path, a.Status, a.Body)
		}
	}
	if a := must.Get(plantstore.Post(t.Context(), http.DefaultClient, s.AdminURL, s.token, `{"id":1,"name":"x"}`))(t); a.Code != models.CodeNotFound {
		t.Errorf("a create at the admin listener: %d %s", a.Status, a.Body)
	}
	s = newSite(t, plantstore.Options{Env: []string{"ADMIN_ADDR=off"}})
	if s.AdminURL != "" {
		t.Errorf("there is an admin listener at %s", s.AdminURL)
	}
	if a := s.create(`{"id":1,"name":"Monstera"}`); a.Status != http.StatusOK {
		t.Errorf("a create: %d %s", a.Status, a.Body)
	}
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
