package load

import (
	"testing"

	"plantstore/e2e/internal/plantstore"
)

// A Site is a server, with the plants that it acknowledged.
type Site struct {
	*Ledger

	Server *plantstore.Server
	Token  string

	t testing.TB
}

// NewSite returns a site whose server is started by [Site.Start], or set.
func NewSite(t testing.TB) *Site {
	t.Helper()
	s := &Site{Ledger: NewLedger(), t: t}
	s.Post = func(body string) (plantstore.Reply, error) { return s.Server.TryPost(s.Token, body) }
	return s
}

// Start starts the server, again after the first time: its clients keep their token.
func (s *Site) Start(o plantstore.Options) {
	s.t.Helper()
	s.Server = plantstore.Start(s.t, o)
	if s.Token == "" {
		s.Token = s.Server.Token("--ttl", "0")
	}
}
