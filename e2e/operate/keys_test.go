package operate

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"plantstore/e2e/internal/load"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// keyKinds are the arguments of openssl for private keys of each kind, and the signature
// algorithm.
func keyKinds() map[string][]string {
	return map[string][]string{
		"RS256": {"genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"},
		"PS512": {"genrsa", "-traditional", "3072"},
		"ES256": {"ecparam", "-name", "prime256v1", "-genkey"},
		"ES384": {"genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"},
		"ES512": {"ecparam", "-name", "secp521r1", "-genkey", "-noout"},
		"EdDSA": {"genpkey", "-algorithm", "ed25519"},
	}
}

// makeKey creates a private key with openssl, NAME.pem, in a directory, and returns the public
// key.
func makeKey(t *testing.T, dir, name string, args []string) string {
	t.Helper()
	openssl, key := tools.Require(t, "openssl"), filepath.Join(dir, name+".pem")
	process.Run(t, openssl, append([]string{args[0], "-out", key}, args[1:]...)...)
	return process.Run(t, openssl, "pkey", "-in", key, "-pubout")
}

// replace replaces a file atomically, as an operator should.
func replace(t *testing.T, path, contents string) {
	t.Helper()
	must.Do(t, os.WriteFile(path+".new", []byte(contents), 0o600))
	must.Do(t, os.Rename(path+".new", path))
}

// The clients create plants as fast as they can, with ascending ids, while keys change.
type clients struct {
	server *plantstore.Server
	mu     sync.RWMutex // held during each create
	token  string
	next   atomic.Int64 // id
	ended  atomic.Bool  // send no further request
}

// run returns when all clients have ended.
func (c *clients) run(t *testing.T) {
	t.Helper()
	load.Each(4, 4, func(int) {
		for !c.ended.Load() {
			c.mu.RLock()
			if r, err := c.create(c.token); err != nil || r.Status != http.StatusOK {
				t.Errorf("a create has failed: %v, %s", err, r.Body)
			}
			c.mu.RUnlock()
		}
	})
}

func (c *clients) create(token string) (plantstore.Reply, error) {
	return c.server.TryPost(token, fmt.Sprintf(`{"id":%d,"name":"Monstera"}`, c.next.Add(1)))
}

// use changes the token of the clients, when none of them waits for a response.
func (c *clients) use(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = token
}

// accepted reports whether a token is accepted.
func (c *clients) accepted(t *testing.T, token string) bool {
	t.Helper()
	return must.Get(c.create(token))(t).Status == http.StatusOK
}

// TestKeysRotateUnderLoad rotates from each kind of key to the next, by SIGHUP, while clients
// create plants: no request is dropped or refused, and in the end tokens of the previous key are
// refused.
func TestKeysRotateUnderLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys := filepath.Join(dir, "keys.pem")
	public := makeKey(t, dir, "first", keyKinds()["EdDSA"])
	replace(t, keys, public)
	server := plantstore.Start(t, plantstore.Options{Dir: dir, Env: []string{"JWT_PUBLIC_KEYS=keys.pem", "LOG_LEVEL=info"}})
	token := server.Token("--key", "first.pem")
	c := &clients{server: server, token: token}
	var running sync.WaitGroup
	running.Go(func() { c.run(t) })
	defer func() {
		c.ended.Store(true)
		running.Wait()
	}()
	for alg, args := range keyKinds() {
		fresh := makeKey(t, dir, alg, args)
		replace(t, keys, public+fresh)
		next := server.Token("--key", alg+".pem", "--alg", alg)
		if c.accepted(t, next) {
			t.Errorf("%s: the key is accepted before SIGHUP", alg)
		}
		server.HangUp()
		plantstore.Await(t, "the new key is trusted", func() bool { return c.accepted(t, next) })
		c.use(next)
		replace(t, keys, fresh)
		server.HangUp()
		plantstore.Await(t, "the old key is not trusted", func() bool { return !c.accepted(t, token) })
		public, token = fresh, next
	}
	t.Logf("%d plants were created meanwhile", c.next.Load())
	if log := server.Log(); strings.Contains(log, "reload failed") {
		t.Errorf("a reload failed:\n%s", log)
	}
}
