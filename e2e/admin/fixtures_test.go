// Package admin tests the admin listener of the real binary: probes, metrics,
// profiles, and the files of docs/deploy that use them.
package admin

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
	"plantstore/models"
)

func TestMain(m *testing.M) { os.Exit(plantstore.Main(m)) }

// A site is a server with a token.
type site struct {
	*plantstore.Server

	t     testing.TB
	token string
}

func newSite(t testing.TB, o plantstore.Options) *site {
	t.Helper()
	server := plantstore.Start(t, o)
	return &site{server, t, server.Token()}
}

// wantUnready checks that the server is live, but not ready, and the reason.
func (s *site) wantUnready(why string) {
	s.t.Helper()
	if a := s.Get(s.AdminURL + "/livez"); a.Status != http.StatusOK {
		s.t.Errorf("/livez: %d %s", a.Status, a.Body)
	}
	a := s.Get(s.AdminURL + "/readyz")
	if a.Status != http.StatusBadRequest || a.Code != models.CodeUnavailable || !strings.Contains(a.Message, why) {
		s.t.Errorf("/readyz: %d %s, want error 503 about %q", a.Status, a.Body, why)
	}
	if ready := s.Metrics()["plantstore_ready"]; ready != 0 {
		s.t.Errorf("plantstore_ready is %v", ready)
	}
}

// hold sends all of a create except the last byte, and returns when the server waits for it. release
// sends that.
func (s *site) hold() (release func() plantstore.Reply) {
	s.t.Helper()
	const body = `{"id":-1,"name":"the last one"}`
	conn := plantstore.Dial(s.t, s.BaseURL)
	header := plantstore.Header(s.token, "Expect: 100-continue", fmt.Sprint("Content-Length: ", len(body)))
	if first := must.Get(conn.Do(header))(s.t); first.Status != http.StatusContinue {
		s.t.Fatalf("the server sent %+v before it had the body", first)
	}
	must.Do(s.t, conn.Send(body[:len(body)-1]))
	return func() plantstore.Reply {
		s.t.Helper()
		return must.Get(conn.Do(body[len(body)-1:]))(s.t)
	}
}

// wantStop checks that after a fault that stops the store, the probes report this until requests are
// drained; then the process exits with that code.
func (s *site) wantStop(code int, why string, fault func()) {
	s.t.Helper()
	release := s.hold()
	fault()
	plantstore.Await(s.t, "the store has stopped", func() bool { return s.Metrics()["plantstore_store_stopped"] == 1 })
	s.wantUnready(why)
	if a := release(); a.Status != http.StatusBadRequest || a.Code != models.CodeUnavailable {
		s.t.Errorf("the request in flight: %d %s", a.Status, a.Body)
	}
	if got := s.AwaitExit(); got != code {
		s.t.Errorf("exit code %d, want %d", got, code)
	}
}
