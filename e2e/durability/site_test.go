package durability

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/load"
	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/keys"
	"plantstore/internal/must"
	"plantstore/middleware/auth"
	"plantstore/models"
)

// saysUnknown reports whether a response is that the outcome is unknown.
func saysUnknown(r load.Response) bool { return r.Err == nil && r.Outcome() == load.Unknown }

// A site is a file system with a server on it, and the requests to the server. The time in its
// ledger is the length of the file system's log.
type site struct {
	*load.Site

	t      testing.TB
	seed   uint64
	fs     *faultfs.FS
	random *rand.Rand // of plants
	binary string     // of the server; empty: the regular program
	env    []string   // of the server, besides the location of the plants
}

// newSite mounts an empty file system.
func newSite(t testing.TB, binary string, seed uint64) *site {
	t.Helper()
	s := &site{Site: load.NewSite(t), t: t, seed: seed, fs: faultfs.Mount(t), random: rand.New(rand.NewPCG(seed, 0)), binary: binary}
	s.Clock = s.fs.Len
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
	s.Server = server
	if s.Token == "" {
		secret := bytes.TrimSpace(s.secret())
		s.Token = must.Get(keys.HS256(auth.Secret(secret)).Issue(keys.Grant{Subject: "test"}, time.Now()))(s.t)
	}
	return nil
}

// secret returns the contents of the file with the secret.
func (s *site) secret() []byte {
	return must.Get(os.ReadFile(filepath.Join(s.fs.Dir, secretFile)))(s.t)
}

// end shuts the server down with SIGTERM, and returns its exit code.
func (s *site) end() int {
	s.t.Helper()
	s.Server.Terminate()
	return s.Server.AwaitExit()
}

// next returns a plant that was not sent before. Some plants are larger than a page.
func next(random *rand.Rand) (id int64, plant models.Plant) {
	plant.Name = strings.Repeat("n", random.IntN(60))
	if random.IntN(10) == 0 {
		plant.Name = strings.Repeat("long", random.IntN(2000))
	}
	if random.IntN(2) == 0 {
		tag := fmt.Sprint("tag ", random.IntN(10))
		plant.Tag = &tag
	}
	return int64(random.Uint64()), plant
}

// createNext creates the next plant.
func (s *site) createNext() load.Response { return s.Create(next(s.random)) }

// repeat creates the plants with this fate again. The ledger records a contradiction.
func (s *site) repeat(f load.Fate) {
	for id, e := range s.Of(f) {
		s.Create(id, e.Plant)
	}
}

// wantStored starts the server. It must have the plants that were acknowledged, and create those that
// were refused.
func (s *site) wantStored() {
	s.t.Helper()
	must.Do(s.t, s.start())
	s.repeat(load.Stored)
	s.repeat(load.Absent)
	s.Server.Stop()
	for _, contradiction := range s.Contradictions() {
		s.t.Error(contradiction)
	}
}

// load creates n plants, by several clients at once, and some of them twice.
func (s *site) load(clients, creates int) {
	ids, plants := make([]int64, creates), make([]models.Plant, creates)
	for i := range ids {
		ids[i], plants[i] = next(s.random)
	}
	load.Each(creates, clients, func(i int) {
		if r := s.Create(ids[i], plants[i]); r.Outcome() != load.Created {
			s.t.Errorf("create on a healthy disk: %v", r)
		}
		if ids[i]%4 == 0 {
			s.Create(ids[i], plants[i]) // the ledger has the violations of the response
		}
	})
}
