package attack

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
	"plantstore/models"
)

// TestLargeCredentialsTakeNoMemory checks that the cache of tokens is bounded by their size: many
// tokens with a large scope, or after many spaces, do not raise the peak of the memory by theirs.
func TestLargeCredentialsTakeNoMemory(t *testing.T) {
	t.Parallel()
	const size = 11 << 10
	for name, large := range map[string]struct{ padding, scope string }{
		"scope":  {"", strings.Repeat("of:no:use ", size/10)},
		"spaces": {strings.Repeat(" ", size), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sendLargeCredentials(t, large.padding, large.scope+"plants:create")
		})
	}
}

func sendLargeCredentials(t *testing.T, padding, scope string) {
	t.Helper()
	const tokens, limit = 12_000, 100 << 20 // the credentials have at least 120 MB
	server := plantstore.Start(t, plantstore.Options{Env: []string{"JWT_SECRET=" + secret, "JWT_SCOPE=plants:create", "LOG_LEVEL=error"}})
	before := peak(t, server)
	var sent atomic.Int64
	var senders sync.WaitGroup
	for range 4 {
		senders.Go(func() {
			for i := sent.Add(1); i <= tokens; i = sent.Add(1) {
				token := signClaims(t, jwt.MapClaims{"sub": strconv.FormatInt(i, 10), "scope": scope})
				reply, err := server.TryPost(padding+token, `{}`)
				if err != nil || reply.Code != 422 {
					t.Errorf("error %d, %v, want 422", reply.Code, err)
					return
				}
			}
		})
	}
	senders.Wait()
	if grown := peak(t, server) - before; grown > limit {
		t.Errorf("the memory grew by %d bytes, want at most %d", grown, limit)
	}
}

// TestLongSubjectIsRefused checks that a subject has at most 255 bytes.
func TestLongSubjectIsRefused(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"JWT_SECRET=" + secret}})
	for length, want := range map[int]models.Code{255: 422, 256: 401} {
		if reply := server.Post(signClaims(t, jwt.MapClaims{"sub": strings.Repeat("x", length)}), `{}`); reply.Code != want {
			t.Errorf("a subject of %d bytes: error %d, want %d", length, reply.Code, want)
		}
	}
}

// TestSubjectLikeToken checks that each subject has its own rate limit, whatever its tokens, and so have
// all tokens without one together. A subject that looks like a token is logged as it is.
func TestSubjectLikeToken(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"JWT_SECRET=" + secret, "RATE_LIMIT=1/h"}})
	part := strings.Repeat("x", 60)
	subjects := []string{part + ".of." + part, part + ".by." + part}
	for _, subject := range append(subjects, "") {
		for i, want := range []models.Code{422, 429} {
			claims := jwt.MapClaims{"jti": i}
			if subject != "" {
				claims["sub"] = subject
			}
			token := signClaims(t, claims)
			if reply := server.Post(token, `{}`); reply.Code != want {
				t.Errorf("%s: error %d, want %d", subject, reply.Code, want)
			}
		}
	}
	if r := server.Get(server.DescriptionURL); r.Status != http.StatusOK {
		t.Errorf("the description has a limit: %s", r.Body)
	}
	server.Stop()
	for _, subject := range subjects {
		if n := strings.Count(server.Log(), `"subject":"`+subject+`"`); n != 2 {
			t.Errorf("the log has the subject %s %d times, want 2", subject, n)
		}
	}
}

func signClaims(t *testing.T, claims jwt.MapClaims) string {
	t.Helper()
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(secret))
	if err != nil {
		t.Error(err)
	}
	return token
}

// peak returns the peak of the resident memory of a server in bytes.
func peak(t *testing.T, server *plantstore.Server) int {
	t.Helper()
	return int(server.Metrics()["process_resident_memory_peak_bytes"])
}

// TestEmptyKeySetRevokes checks that an issuer that publishes an empty key set revokes its tokens.
func TestEmptyKeySetRevokes(t *testing.T) {
	t.Parallel()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	must.Do(t, err)
	full, empty := fmt.Sprintf(`{"keys":[{"kty":"OKP","crv":"Ed25519","x":%q}]}`, base64.RawURLEncoding.EncodeToString(public)), `{"keys":[]}`
	var set atomic.Pointer[string]
	set.Store(&full)
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, *set.Load()) }))
	t.Cleanup(issuer.Close)
	server := plantstore.Start(t, plantstore.Options{Env: []string{"JWT_JWKS_URL=" + issuer.URL}})
	token := must.Get(jwt.NewWithClaims(jwt.SigningMethodEdDSA, jwt.MapClaims{"sub": "mallory"}).SignedString(private))(t)
	if reply := server.Post(token, `{}`); reply.Code != 422 {
		t.Errorf("error %d before, want 422", reply.Code)
	}
	set.Store(&empty)
	server.HangUp()
	server.AwaitLog("issuer has no usable keys")
	if reply := server.Post(token, `{}`); reply.Code != 401 {
		t.Errorf("error %d after, want 401", reply.Code)
	}
}
