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
	s := &site{t: t, Server: plantstore.Start(t, o)}
	s.token = s.Token()
	return s
}

// request sends a request without a body and a token.
func (s *site) request(method, url string) {
	s.t.Helper()
	must.Get(plantstore.Do(s.t.Context(), http.DefaultClient, method, url, ""))(s.t)
}

// create creates a plant.
func (s *site) create(body string) plantstore.Reply {
	s.t.Helper()
	return s.Post(s.token, body)
}

// probe sends a request to the admin listener.
func (s *site) probe(path string) plantstore.Reply {
	s.t.Helper()
	return s.Get(s.AdminURL + path)
}

// wantAlive checks that the server is live.
func (s *site) wantAlive() {
	s.t.Helper()
	if a := s.probe("/livez"); a.Status != http.StatusOK || a.Body != `{"status":"alive"}`+"\n" {
		s.t.Errorf("/livez: %d %s", a.Status, a.Body)
	}
}

// wantUnready checks that the server is not ready, and the reason.
func (s *site) wantUnready(why string) {
	s.t.Helper()
	a := s.probe("/readyz")
	if a.Status != http.StatusBadRequest || a.Code != models.CodeUnavailable || !strings.Contains(a.Message, why) {
		s.t.Errorf("/readyz: %d %s, want error 503 about %q", a.Status, a.Body, why)
	}
	if ready := s.Metrics()["plantstore_ready"]; ready != 0 {
		s.t.Errorf("plantstore_ready is %v", ready)
	}
}

// A held is a create that the server has received except for the last byte.
type held struct {
	*plantstore.Conn

	t    testing.TB
	last string
}

// hold sends all of a create except the last byte, and returns when the server waits for it.
func (s *site) hold(body string) held {
	s.t.Helper()
	h := held{plantstore.Dial(s.t, s.BaseURL), s.t, body[len(body)-1:]}
	first := must.Get(h.Do(plantstore.Header(s.token, "Expect: 100-continue", fmt.Sprint("Content-Length: ", len(body)))))(s.t)
	if first.Status != http.StatusContinue {
		s.t.Fatalf("the server sent %+v before it had the body", first)
	}
	must.Do(s.t, h.Send(body[:len(body)-1]))
	return h
}

// release sends the rest and returns the response.
func (h held) release() plantstore.Reply {
	h.t.Helper()
	defer func() { _ = h.Close() }()
	return must.Get(h.Do(h.last))(h.t)
}

// awaitEnd waits until the process has exited with that code.
func (s *site) awaitEnd(code int) {
	s.t.Helper()
	if got := s.AwaitExit(); got != code {
		s.t.Errorf("exit code %d, want %d", got, code)
	}
}
