package admin

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/must"
	"plantstore/e2e/internal/plantstore"
	"plantstore/models"
)

// TestReady checks that a server that is ready accepts creates.
func TestReady(t *testing.T) {
	t.Parallel()
	s := newSite(t, plantstore.Options{})
	s.wantAlive()
	if a := s.probe("/readyz"); a.Status != http.StatusOK || a.Body != `{"status":"ready"}`+"\n" {
		t.Errorf("/readyz: %d %s", a.Status, a.Body)
	}
	if a := s.create(`{"id":1,"name":"Monstera"}`); a.Status != http.StatusOK {
		t.Errorf("a create: %d %s", a.Status, a.Body)
	}
	address := strings.TrimPrefix(s.AdminURL, "http://")
	s.Stop()
	if conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address); err == nil {
		_ = conn.Close()
		t.Error("the admin listener still exists after the exit of the process")
	}
}

// TestReadyWhileStopping checks that a server that is shut down reports that it is not ready
// before it stops accepting connections, and while it drains requests; then it exits with 0.
func TestReadyWhileStopping(t *testing.T) {
	t.Parallel()
	s := newSite(t, plantstore.Options{Env: []string{"SHUTDOWN_TIMEOUT=1m", "LOG_LEVEL=error"}})
	h := s.hold(`{"id":-1,"name":"the last one"}`)
	s.Terminate()
	for end, closed := time.Now().Add(patience), false; !closed; {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.BaseURL, "http://"))
		if closed = err != nil; !closed {
			_ = conn.Close()
		}
		if a := s.probe("/readyz"); closed && a.Status != http.StatusBadRequest {
			t.Errorf("the server accepts no connection, and /readyz returns %s", a.Body)
		}
		if time.Now().After(end) {
			t.Fatal("the server still accepts connections")
		}
	}
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
	if s.metrics()["plantstore_store_stopped"] != 0 {
		t.Error("the store has stopped before anything happened")
	}
	must.Do(t, os.Remove(filepath.Join(s.Dir, "data", "plants.db")))
	s.await("not ready", func() bool { return s.probe("/readyz").Status != http.StatusOK })
	s.wantUnready("stopped itself after a fault")
	s.wantAlive()
	if s.metrics()["plantstore_store_stopped"] != 1 {
		t.Error("plantstore_store_stopped is not 1")
	}
	if a := h.release(); a.Status != http.StatusBadRequest || a.Code != models.CodeUnavailable {
		t.Errorf("the request in flight: %d %s", a.Status, a.Body)
	}
	s.awaitEnd(1)
}

// TestProfiles checks that profiles are off by default.
func TestProfiles(t *testing.T) {
	t.Parallel()
	s := newSite(t, plantstore.Options{})
	if a := s.probe("/debug/pprof/"); a.Status != http.StatusBadRequest || a.Code != models.CodeNotFound {
		t.Errorf("without PPROF: %d %s", a.Status, a.Body)
	}
	s = newSite(t, plantstore.Options{Env: []string{"PPROF=on"}})
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/profile?seconds=1"} {
		if a := s.probe(path); a.Status != http.StatusOK || a.Body == "" {
			t.Errorf("%s: %d, %d bytes", path, a.Status, len(a.Body))
		}
	}
}

// TestListenersAreApart checks that neither listener serves the paths of the other, and that
// without an admin listener its paths do not exist.
func TestListenersAreApart(t *testing.T) {
	t.Parallel()
	s := newSite(t, plantstore.Options{})
	for _, path := range []string{"/livez", "/readyz", "/metrics"} {
		if a := s.request(http.MethodGet, s.BaseURL+path, "", ""); a.Status != http.StatusBadRequest || a.Code != models.CodeNotFound {
			t.Errorf("%s for clients: %d %s", path, a.Status, a.Body)
		}
	}
	if a := s.request(http.MethodPost, s.AdminURL+"/plants", s.token, `{"id":1,"name":"x"}`); a.Code != models.CodeNotFound {
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
	var all []net.Conn
	for range 500 {
		all = append(all, dial(t, s.AdminURL))
	}
	for host, status := range map[string]int{"localhost": http.StatusOK, "example.com": http.StatusBadRequest} {
		conn := dial(t, s.AdminURL)
		fmt.Fprintf(conn, "GET /livez HTTP/1.1\r\nHost: %s\r\n\r\n", host)
		if a := read(t, conn); a.Status != status {
			t.Errorf("%s: %d %s, want %d", host, a.Status, a.Body, status)
		}
		all = append(all, conn)
	}
	for _, conn := range all {
		if _, err := io.Copy(io.Discard, conn); os.IsTimeout(err) {
			t.Fatal("a connection stays open")
		}
	}
}
