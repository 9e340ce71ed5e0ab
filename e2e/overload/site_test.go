package overload

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"testing"

	"plantstore/e2e/internal/load"
	"plantstore/e2e/internal/plantstore"
	"plantstore/models"
)

// A site is a server and its clients.
type site struct {
	*load.Site

	t     testing.TB
	front string      // URL to which clients connect
	tls   *tls.Config // of clients; nil: without TLS
}

func newSite(t testing.TB, env ...string) *site {
	t.Helper()
	s := &site{Site: load.NewSite(t), t: t}
	s.Start(plantstore.Options{Env: append(env, "LOG_LEVEL=error")})
	s.front = s.Server.BaseURL
	return s
}

// dial opens the connection of client n. Many clients connect from several addresses, which provide
// enough ports.
func (s *site) dial(n int) (*plantstore.Conn, error) {
	c, err := plantstore.DialFrom(s.t.Context(), s.front, 2+n%20)
	if err == nil && s.tls != nil {
		c.Wrap(tls.Client(c.Conn, s.tls))
	}
	return c, err
}

// on calls do with a connection of client n.
func (s *site) on(n int, do func(c *plantstore.Conn)) {
	c, err := s.dial(n)
	if err != nil {
		s.t.Errorf("no connection: %v", err)
		return
	}
	defer func() { _ = c.Close() }()
	do(c)
}

// want sends a request, and checks the response.
func (s *site) want(c *plantstore.Conn, what, request string, holds func(plantstore.Reply) bool) {
	s.t.Helper()
	if r, err := c.Do(request); err != nil || !holds(r) {
		s.t.Errorf("%s: %v, %v", what, r, err)
	}
}

// created, refused and isError report whether the plant was stored now, was refused for lack of
// resources, or whether the response is that Error.
func created(r plantstore.Reply) bool { return r.Status == http.StatusOK }

func refused(r plantstore.Reply) bool {
	return r.Code == models.CodeUnavailable && load.Response{Reply: r}.Outcome() == load.Refused
}

func isError(r plantstore.Reply, code models.Code) bool {
	return r.Status == http.StatusBadRequest && r.Code == code
}

// plant returns the plant with an id.
func plant(id int64) models.Plant {
	tag := "climber"
	return models.Plant{Name: fmt.Sprint("Monstera ", id), Tag: &tag}
}

// create returns the request for that plant.
func (s *site) create(id int64) string { return plantstore.Create(s.Token, load.Body(id, plant(id))) }

// A holding is what a server holds for its connections.
type holding struct{ goroutines, files float64 }

func (s *site) held() holding {
	s.t.Helper()
	s.Server.Metrics() // from now on there is a connection to the admin listener
	metrics := s.Server.Metrics()
	return holding{metrics["go_goroutines"], metrics["process_open_fds"]}
}

// wantHeld waits until the server holds no more than most.
func (s *site) wantHeld(most holding) {
	s.t.Helper()
	plantstore.Await(s.t, fmt.Sprintf("the server holds at most %+v", most), func() bool {
		now := s.held()
		return now.goroutines <= most.goroutines && now.files <= most.files
	})
}
