package operate

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

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
	if err := os.WriteFile(filepath.Join(dir, name+".pem"), []byte(openssl(args...)), 0o600); err != nil {
		t.Fatal(err)
	}
	return openssl("pkey", "-in", name+".pem", "-pubout")
}

// replace replaces a file atomically, as an operator should.
func replace(t *testing.T, path, contents string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(contents), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// A bearer is a group of clients that create plants with the current token, and fail the test on
// any response other than 200.
type bearer struct {
	token  atomic.Pointer[string]
	nextID atomic.Int64
	rounds [4]atomic.Int64 // number of creates that each client has begun
	url    string
	client *http.Transport
}

func (b *bearer) run(ctx context.Context, t *testing.T, rounds *atomic.Int64) {
	for ctx.Err() == nil {
		rounds.Add(1)
		id := b.nextID.Add(1)
		//nolint:contextcheck // requests in progress are not canceled
		if !create(context.Background(), b.client, b.url, *b.token.Load(), id) {
			t.Errorf("create %d did not get 200", id)
			return
		}
	}
}

// use changes the token of the clients and returns when all use it.
func (b *bearer) use(t *testing.T, token string) {
	t.Helper()
	b.token.Store(&token)
	for i := range b.rounds {
		begun := b.rounds[i].Load()
		await(t, "progress of a client", func() bool { return b.rounds[i].Load() > begun || t.Failed() })
	}
}

// accepted reports whether a token is accepted.
func (b *bearer) accepted(t *testing.T, token string) bool {
	t.Helper()
	return create(t.Context(), b.client, b.url, token, b.nextID.Add(1))
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
	b := &bearer{url: server.BaseURL, client: &http.Transport{MaxIdleConnsPerHost: 8}}
	t.Cleanup(b.client.CloseIdleConnections)
	token := server.Token("--key", "first.pem")
	b.token.Store(&token)
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for i := range b.rounds {
		clients.Go(func() { b.run(ctx, t, &b.rounds[i]) })
	}
	for alg, args := range keyKinds() {
		fresh := makeKey(t, dir, alg, args)
		replace(t, keys, public+fresh)
		next := server.Token("--key", alg+".pem", "--alg", alg)
		if b.accepted(t, next) {
			t.Errorf("%s: the key is accepted before SIGHUP", alg)
		}
		server.HangUp()
		await(t, "the new key is trusted", func() bool { return b.accepted(t, next) })
		b.use(t, next)
		replace(t, keys, fresh)
		server.HangUp()
		await(t, "the old key is not trusted", func() bool { return !b.accepted(t, token) })
		public, token = fresh, next
	}
	stop()
	clients.Wait()
	t.Logf("%d plants were created meanwhile", b.nextID.Load())
	if log := server.Log(); strings.Contains(log, "reload failed") {
		t.Errorf("a reload failed:\n%s", log)
	}
}
