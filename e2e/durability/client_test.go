package durability

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/must"
	"plantstore/e2e/internal/plantstore"
	"plantstore/models"
)

const (
	ok       = http.StatusOK
	conflict = http.StatusConflict
	noSpace  = http.StatusInsufficientStorage
)

// A reply is the response to a create.
type reply struct {
	status  int
	code    int // number of the Error
	message string
	err     error // there was no response
}

func (a reply) String() string {
	switch {
	case a.refusedConnection():
		return "with no connection"
	case a.err != nil:
		return fmt.Sprintf("with no response (%v)", a.err)
	case a.status == ok:
		return "200"
	}
	return fmt.Sprintf("%d %q", a.code, a.message)
}

// fate returns whether the plant is stored, according to the response.
func (a reply) fate() fate {
	identical := a.code == conflict && strings.Contains(a.message, "is identical")
	switch {
	case a.status == ok || identical:
		return stored
	case strings.Contains(a.message, "was not stored"), a.refusedConnection():
		return absent
	}
	return unknown
}

// refusedConnection reports whether the server had exited.
func (a reply) refusedConnection() bool {
	dial := new(net.OpError)
	return errors.As(a.err, &dial) && dial.Op == "dial"
}

// fault returns the violations of the response itself.
func (a reply) fault() string {
	switch {
	case a.err != nil || a.status == ok:
		return ""
	case a.status != http.StatusBadRequest:
		return fmt.Sprintf("its status is %d", a.status)
	case a.code == conflict && a.fate() != stored:
		return "the id is taken, but no other client sends plants"
	case a.fate() == unknown && !a.unknown():
		return "does not report whether the plant was stored"
	}
	return ""
}

// unknown reports whether the response is that the outcome is unknown.
func (a reply) unknown() bool {
	return a.code == http.StatusInternalServerError && strings.Contains(a.message, "the outcome is unknown")
}

// A site is a file system with a server on it, and the requests to the server.
type site struct {
	t      testing.TB
	fs     *faultfs.FS
	ledger *ledger
	random *rand.Rand // of plants
	binary string     // of the server; empty: the regular program
	env    []string   // of the server, besides the location of the plants
	server *plantstore.Server
	token  string
}

// newSite mounts an empty file system.
func newSite(t testing.TB, binary string, seed uint64) *site {
	t.Helper()
	s := newVisitor(t, nil, seed)
	s.fs, s.ledger, s.binary = faultfs.Mount(t), newLedger(), binary
	return s
}

// newVisitor returns a site for a server that runs elsewhere: it can only post.
func newVisitor(t testing.TB, server *plantstore.Server, seed uint64) *site {
	t.Helper()
	s := &site{t: t, server: server, random: rand.New(rand.NewPCG(seed, 0))}
	if server != nil {
		s.token = server.Token("--ttl", "0")
	}
	return s
}

// url returns the location of the plants.
func (s *site) url() string { return "bbolt:" + s.fs.Dir + "/" + databaseFile }

// start starts a server on the file system, or returns why it did not start.
func (s *site) start() error {
	s.t.Helper()
	server, err := plantstore.Try(s.t, plantstore.Options{Env: append(s.env, "STORAGE_URL="+s.url()), Binary: s.binary})
	if err != nil {
		return err
	}
	s.server = server
	if s.token == "" {
		s.token = s.newToken()
	}
	return nil
}

// newToken returns a token for the server, without touching the file system.
func (s *site) newToken() string {
	s.t.Helper()
	secret := must.Get(s.fs.ReadFile(secretFile))(s.t)
	env := []string{"JWT_SECRET=" + strings.TrimSpace(string(secret))}
	token := must.Get(plantstore.Command(s.t, s.t.TempDir(), env, "token", "--ttl", "0").Output())(s.t)
	return strings.TrimSpace(string(token))
}

// exits reports whether the server exits.
func (s *site) exits() bool {
	defer s.server.Kill() // its exit was requested
	select {
	case <-s.server.Exited():
		return true
	case <-time.After(patience):
		return false
	}
}

// end shuts the server down with SIGTERM, and returns its exit code.
func (s *site) end() int {
	s.t.Helper()
	s.server.Terminate()
	if !s.exits() {
		s.t.Errorf("SIGTERM does not end the server")
	}
	return s.server.ExitCode()
}

// next returns a plant that was not sent before. Some plants are larger than a page.
func (s *site) next() (id int64, plant models.Plant) {
	plant.Name = strings.Repeat("n", s.random.IntN(60))
	if s.random.IntN(10) == 0 {
		plant.Name = strings.Repeat("long", s.random.IntN(2000))
	}
	if s.random.IntN(2) == 0 {
		tag := fmt.Sprint("tag ", s.random.IntN(10))
		plant.Tag = &tag
	}
	return int64(s.random.Uint64()), plant
}

// create sends a plant, records the response in the ledger and returns it.
func (s *site) create(id int64, plant models.Plant) reply {
	a := s.post(id, plant)
	s.ledger.note(id, plant, a, s.fs.Len())
	return a
}

// createNext is create of the next plant.
func (s *site) createNext() reply {
	id, plant := s.next()
	return s.create(id, plant)
}

// repeat creates the plants with this fate again. The ledger records a contradiction.
func (s *site) repeat(f fate) {
	for id, plant := range s.ledger.of(f) {
		s.create(id, plant)
	}
}

func (s *site) post(id int64, plant models.Plant) (a reply) {
	body, err := json.Marshal(map[string]any{"id": id, "name": plant.Name, "tag": plant.Tag})
	if plant.Tag == nil {
		body, err = json.Marshal(map[string]any{"id": id, "name": plant.Name})
	}
	if err != nil {
		return reply{err: err}
	}
	r, err := s.server.TryPost(s.token, string(body))
	return reply{status: r.Status, code: int(r.Code), message: r.Message, err: err}
}

// load creates n plants, by several clients at once, and some of them twice.
func (s *site) load(clients, creates int) {
	type plant struct {
		id    int64
		plant models.Plant
	}
	plants := make(chan plant, creates)
	for range creates {
		id, p := s.next()
		plants <- plant{id, p}
	}
	close(plants)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for p := range plants {
				if a := s.create(p.id, p.plant); a.status != ok {
					s.t.Errorf("create on a healthy disk: %v", a)
				}
				if p.id%4 == 0 {
					s.create(p.id, p.plant) // the ledger has the violations of the response
				}
			}
		})
	}
	all.Wait()
}
