// Package admin tests the admin listener of the real binary: probes, metrics,
// profiles, and the files of docs/deploy that use them.
package admin

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/must"
	"plantstore/e2e/internal/plantstore"
	"plantstore/models"
)

func TestMain(m *testing.M) { os.Exit(plantstore.Main(m)) }

// patience bounds every wait; it is far above the usual duration.
const patience = time.Minute

// A site is a server with a client for both of its listeners.
type site struct {
	*plantstore.Server

	t      testing.TB
	token  string
	client *http.Client
}

func newSite(t testing.TB, o plantstore.Options) *site {
	t.Helper()
	s := &site{t: t, Server: plantstore.Start(t, o), client: plantstore.NewClient(t)}
	s.token = s.Token()
	return s
}

// request sends a request to the server.
func (s *site) request(method, url, token, body string) plantstore.Reply {
	s.t.Helper()
	header := []string{"Content-Type", "application/json"}
	if token != "" {
		header = append(header, "Authorization", "Bearer "+token)
	}
	r := must.Get(plantstore.Do(s.t.Context(), s.client, method, url, body, header...))(s.t)
	return r
}

// create creates a plant.
func (s *site) create(body string) plantstore.Reply {
	s.t.Helper()
	return s.request(http.MethodPost, s.BaseURL+"/plants", s.token, body)
}

// probe sends a request to the admin listener.
func (s *site) probe(path string) plantstore.Reply {
	s.t.Helper()
	return s.request(http.MethodGet, s.AdminURL+path, "", "")
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
	if ready := s.metrics()["plantstore_ready"]; ready != 0 {
		s.t.Errorf("plantstore_ready is %v", ready)
	}
}

// metrics returns all series, by name and labels.
func (s *site) metrics() map[string]float64 {
	s.t.Helper()
	a := s.probe("/metrics")
	if a.Status != http.StatusOK {
		s.t.Fatalf("/metrics: %d %s", a.Status, a.Body)
	}
	all := make(map[string]float64)
	for line := range strings.Lines(a.Body) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		i := strings.LastIndexByte(line, ' ')
		value, err := strconv.ParseFloat(line[i+1:], 64)
		if err != nil {
			s.t.Errorf("the line %q: %v", line, err)
		}
		all[line[:i]] = value
	}
	return all
}

// A held is a create that the server has received except for the last byte.
type held struct {
	t    testing.TB
	conn net.Conn
	last string
}

// hold sends all of a create except the last byte, and returns when the server waits for it.
func (s *site) hold(body string) *held {
	s.t.Helper()
	conn := dial(s.t, s.BaseURL)
	fmt.Fprintf(conn, "POST /plants HTTP/1.1\r\nHost: plants\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n", s.token, len(body))
	line, err := bufio.NewReader(io.LimitReader(conn, int64(len("HTTP/1.1 100 Continue\r\n\r\n")))).ReadString('\n')
	if err != nil || line != "HTTP/1.1 100 Continue\r\n" {
		s.t.Fatalf("the server sent %q, %v, before it had the body", line, err)
	}
	fmt.Fprint(conn, body[:len(body)-1])
	return &held{s.t, conn, body[len(body)-1:]}
}

// release sends the rest and returns the response.
func (h *held) release() plantstore.Reply {
	h.t.Helper()
	fmt.Fprint(h.conn, h.last)
	a := read(h.t, h.conn)
	_ = h.conn.Close()
	return a
}

// dial connects to a listener until the end of the test.
func dial(t testing.TB, url string) net.Conn {
	t.Helper()
	conn := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://")))(t)
	t.Cleanup(func() { _ = conn.Close() })
	must.Do(t, conn.SetDeadline(time.Now().Add(patience)))
	return conn
}

// read reads a response from a connection.
func read(t testing.TB, conn net.Conn) plantstore.Reply {
	t.Helper()
	response := must.Get(http.ReadResponse(bufio.NewReader(conn), nil))(t)
	r := must.Get(plantstore.Read(response))(t)
	return r
}

// awaitEnd waits until the process has exited with that code.
func (s *site) awaitEnd(code int) {
	s.t.Helper()
	defer s.Kill() // it has exited as expected
	select {
	case <-s.Exited():
	case <-time.After(patience):
		s.t.Fatal("the server does not exit")
	}
	if got := s.ExitCode(); got != code {
		s.t.Errorf("exit code %d, want %d", got, code)
	}
}

// await waits until a condition on another process is met.
func (s *site) await(condition string, holds func() bool) {
	s.t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("not within %v: %s", patience, condition)
		}
	}
}
