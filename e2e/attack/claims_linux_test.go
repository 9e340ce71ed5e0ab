package attack

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"plantstore/e2e/internal/load"
	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
	"plantstore/models"
)

// TestLargeCredentialsTakeNoMemory checks that the cache of tokens is bounded by their size: many
// tokens with a large scope, or after many spaces, do not raise the peak of the memory by theirs.
func TestLargeCredentialsTakeNoMemory(t *testing.T) {
	t.Parallel()
	const tokens, size, limit = 6000, 11 << 10, 55 << 20 // the credentials have at least 66 MB
	for name, large := range map[string]struct{ padding, scope string }{
		"scope":  {"", strings.Repeat("of:no:use ", size/10)},
		"spaces": {strings.Repeat(" ", size), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := plantstore.Start(t, plantstore.Options{Env: []string{
				"JWT_SECRET=" + secret, "JWT_SCOPE=plants:create", "LOG_LEVEL=error", "GOGC=20", // little garbage
			}})
			before := peak(server)
			load.Each(tokens, 4, func(n int) {
				token := signClaims(t, jwt.MapClaims{"sub": strconv.Itoa(n), "scope": large.scope + "plants:create"})
				if reply, err := server.TryPost(large.padding+token, `{}`); err != nil || reply.Code != 422 {
					t.Errorf("error %d, %v, want 422", reply.Code, err)
				}
			})
			grown := peak(server) - before
			t.Logf("the memory grew by %d MiB", grown>>20)
			if grown > limit {
				t.Errorf("the memory grew by %d bytes, want at most %d", grown, limit)
			}
		})
	}
}

// TestSubjectLikeToken checks that each subject has its own rate limit, whatever its tokens, and so have
// all tokens without one together. A subject that looks like a token is logged as it is, and one has
// at most 255 bytes.
func TestSubjectLikeToken(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"JWT_SECRET=" + secret, "RATE_LIMIT=1/h"}})
	part := strings.Repeat("x", 60)
	subjects := []string{part + ".of." + part, part + ".by." + part, strings.Repeat("x", 255)}
	for _, subject := range append(subjects, "") {
		for i, want := range []models.Code{422, 429} {
			claims := jwt.MapClaims{"jti": i}
			if subject != "" {
				claims["sub"] = subject
			}
			if reply := server.Post(signClaims(t, claims), `{}`); reply.Code != want {
				t.Errorf("%s: error %d, want %d", subject, reply.Code, want)
			}
		}
	}
	if reply := server.Post(signClaims(t, jwt.MapClaims{"sub": strings.Repeat("x", 256)}), `{}`); reply.Code != 401 {
		t.Errorf("a subject of 256 bytes: error %d, want 401", reply.Code)
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
	return must.Get(jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(secret)))(t)
}

// peak returns the peak of the resident memory of a server in bytes.
func peak(server *plantstore.Server) int {
	return int(server.Metrics()["process_resident_memory_peak_bytes"])
}
