package operate

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/must"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
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
	openssl := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), tools.Require(t, "openssl"), args...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", cmd, err)
		}
		return string(out)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, name+".pem"), []byte(openssl(args...)), 0o600))
	return openssl("pkey", "-in", name+".pem", "-pubout")
}

// replace replaces a file atomically, as an operator should.
func replace(t *testing.T, path, contents string) {
	t.Helper()
	must.Do(t, os.WriteFile(path+".new", []byte(contents), 0o600))
	must.Do(t, os.Rename(path+".new", path))
}

// use changes the token of the clients and returns when all use it.
func (l *load) use(t *testing.T, token string) {
	t.Helper()
	l.token.Store(&token)
	for i := range l.rounds {
		begun := l.rounds[i].Load()
		await(t, "progress of a client", func() bool { return l.rounds[i].Load() > begun })
	}
}

// accepted reports whether a token is accepted.
func (l *load) accepted(t *testing.T, token string) bool {
	t.Helper()
	r := must.Get(createPlant(t.Context(), l.client, l.url, token, l.next.Add(1)))(t)
	return r.Status == http.StatusOK
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
	l := startLoad(t, server.BaseURL, token, 4)
	for alg, args := range keyKinds() {
		fresh := makeKey(t, dir, alg, args)
		replace(t, keys, public+fresh)
		next := server.Token("--key", alg+".pem", "--alg", alg)
		if l.accepted(t, next) {
			t.Errorf("%s: the key is accepted before SIGHUP", alg)
		}
		server.HangUp()
		await(t, "the new key is trusted", func() bool { return l.accepted(t, next) })
		l.use(t, next)
		replace(t, keys, fresh)
		server.HangUp()
		await(t, "the old key is not trusted", func() bool { return !l.accepted(t, token) })
		public, token = fresh, next
	}
	l.end()
	if len(l.failed) > 0 {
		t.Errorf("creates have failed: %v", l.failed)
	}
	t.Logf("%d plants were created meanwhile", l.created.Load())
	if log := server.Log(); strings.Contains(log, "reload failed") {
		t.Errorf("a reload failed:\n%s", log)
	}
}
