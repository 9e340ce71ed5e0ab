package e2e

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/models"
)

// withoutPreference returns a response without Date, the value of a new request id, and
// Preference-Applied, the value of which it returns.
func withoutPreference(raw string) (response, applied string) {
	text := regexp.MustCompile(`\r\nDate: [^\r]*`).ReplaceAllString(raw, "")
	text = regexp.MustCompile(`\r\nX-Request-Id: [A-Z2-7]{26}\r`).ReplaceAllString(text, "\r\nX-Request-Id: NEW\r")
	preference := regexp.MustCompile(`\r\nPreference-Applied: ([^\r]*)`)
	if found := preference.FindStringSubmatch(text); found != nil {
		applied = found[1]
	}
	return preference.ReplaceAllString(text, ""), applied
}

// failingRequests returns the requests for real failures by the preferences for them. The plant is
// stored, and the weak token lacks the scope. A request that is refused before its body was read has
// one, since the connection closes then.
func failingRequests(id, token, weak, plant string) map[string]string {
	headers := func(more ...string) []string {
		return append([]string{id, "Authorization: Bearer " + token, "Content-Type: application/json"}, more...)
	}
	return map[string]string{
		"code=400":                    rawRequest("POST /plants HTTP/1.1", headers("Content-Length: 0"), ""),
		"code=401":                    rawRequest("POST /plants HTTP/1.1", []string{id, "Content-Length: 2"}, "{}"),
		"code=403":                    plantstore.Create(weak, plant, id),
		"code=404":                    rawRequest("POST /nowhere HTTP/1.1", []string{id, "Content-Length: 2"}, "{}"),
		"code=405":                    rawRequest("PUT /plants HTTP/1.1", []string{id, "Content-Length: 2"}, "{}"),
		"code=408":                    rawRequest("POST /plants HTTP/1.1", headers("Content-Length: 9"), "{"),
		"code=409":                    plantstore.Create(token, `{"id":7,"name":"b"}`, id),
		"code=409; outcome=identical": plantstore.Create(token, plant, id),
		"code=413":                    rawRequest("POST /plants HTTP/1.1", headers("Content-Length: 1048577"), ""),
		"code=415":                    rawRequest("POST /plants HTTP/1.1", append(headers()[:2], "Content-Length: 2"), "{}"),
		"code=417":                    plantstore.Create(token, plant, id, "Expect: a miracle"),
		"code=422":                    plantstore.Create(token, `{}`, id),
		"code=431":                    plantstore.Create(token, plant, id, "X-Filler: "+strings.Repeat("x", 64<<10)),
		"code=501":                    rawRequest("POST /plants HTTP/1.1", append([]string{id}, "Transfer-Encoding: gzip"), ""),
		"code=505":                    rawRequest("POST /plants HTTP/3.0", []string{id}, ""),
	}
}

// unprovoked returns the values of error that no client can provoke on a healthy server, with
// the cause of each.
func unprovoked() map[models.Code]string {
	return map[models.Code]string{
		models.CodeInternal:          "a fault of the server",
		models.CodeUnavailable:       "more load than a test should make, or a fault of the disk",
		models.CodeInsufficientSpace: "a full disk",
	}
}

// TestFaultsAreReal provokes each failure that a client can provoke, in each version of HTTP. The
// response matches the description, and a fault on demand equals it, byte for byte except for
// Preference-Applied (C1.7).
func TestFaultsAreReal(t *testing.T) {
	t.Parallel()
	env := slices.Clip([]string{"JWT_SECRET=" + strings.Repeat("s", 32), "JWT_SCOPE=plants:create", "CORS_ORIGINS=*", "REQUEST_TIMEOUT=2s"})
	faulty := plantstore.Start(t, plantstore.Options{Env: append(env, "FAULTS=on"), Args: []string{"--ephemeral"}})
	plain := plantstore.Start(t, plantstore.Options{Env: env})
	limited := plantstore.Start(t, plantstore.Options{Env: append(env, "RATE_LIMIT=1/s", "FAULTS=always")})
	token, weak := plain.Token(), plain.Token("--jwt-scope", "plants:read")
	const id, plant = "X-Request-Id: same", `{"id":7,"name":"a"}`
	checker := newChecker(t, plain)
	in := func(t *testing.T, version string, server *plantstore.Server, request string) (response, applied string) {
		t.Helper()
		r, raw := exchangeRaw(t, server, strings.Replace(request, "HTTP/1.1", version, 1))
		if err := checker.check(r); err != nil {
			t.Error(err)
		}
		return withoutPreference(raw)
	}
	for _, body := range []string{plant, `{"id":9223372036854775807,"name":"a","tag":"b","height":[1,{}]}`} {
		if r := plain.Post(token, body); checker.check(r) != nil || r.Status != http.StatusOK {
			t.Errorf("%+v: %v", r, checker.check(r))
		}
	}
	requests := failingRequests(id, token, weak, plant)
	requests["code=429"] = plantstore.Create(token, plant, id)
	tested := map[string]bool{}
	for preference, request := range requests {
		name, _, _ := strings.Cut(preference, ";")
		tested[name] = true
		for _, version := range []string{"HTTP/1.0", "HTTP/1.1"} {
			if version == "HTTP/1.0" && name == "code=501" {
				continue // HTTP/1.0 has no transfer codings
			}
			t.Run(version+", "+preference, func(t *testing.T) {
				t.Parallel()
				provoked, made, sender := plain, faulty, token
				if name == "code=429" {
					provoked, made, sender = limited, limited, plain.Token("--subject", version) // within the limit
				}
				want, _ := in(t, version, provoked, request)
				for name == "code=429" && !strings.Contains(want, `"error":429`) {
					want, _ = in(t, version, provoked, request)
				}
				got, applied := in(t, version, made, plantstore.Create(sender, plant, id, "Prefer: "+preference))
				if diff := cmp.Diff(want, got); diff != "" || applied != name {
					t.Errorf("Preference-Applied: %q (-real +on demand):\n%s", applied, diff)
				}
			})
		}
	}
	for _, c := range models.Codes() {
		if unprovoked()[c.Code] == "" && !tested["code="+c.Code.String()] {
			t.Errorf("error %v is not tested", c.Code)
		}
	}
}

// TestFaultsOfTheStore checks that faults of the store, which no client can provoke, are as
// documented, store a plant only with outcome=stored, and are counted separately.
func TestFaultsOfTheStore(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"FAULTS=on"}, Args: []string{"--ephemeral"}})
	token := server.Token()
	checker := newChecker(t, server)
	const plant = `{"id":7,"name":"a"}`
	for _, step := range []struct {
		preference string
		want       models.Code
	}{
		{"code=503", 503}, {"code=507, delay=50ms", 507}, {"code=500", 500}, {"code=500; outcome=stored", 500}, {"code=500; outcome=stored", 409},
	} {
		response := exchange(t, server, plantstore.Create(token, plant, "Prefer: "+step.preference))
		if err := checker.check(response); err != nil || response.Code != step.want || response.Closes {
			t.Errorf("%s: error %d (%s), want %d; it closes the connection: %t, %v", step.preference, response.Code, response.Message, step.want, response.Closes, err)
		}
	}
	exchange(t, server, plantstore.Create("bad", plant, "Prefer: code=503"))
	metrics := string(get(t, server, server.AdminURL+"/metrics"))
	for _, line := range []string{
		`plantstore_token_cache_misses_total 2`, `plantstore_token_cache_hits_total 4`, `plantstore_credentials_refused_total{reason="malformed"} 1`,
		`plantstore_faults_total{fault="500"} 2`, `plantstore_faults_total{fault="503"} 1`, `plantstore_faults_total{fault="delay"} 1`,
		`plantstore_requests_total{outcome="failed",error="500"} 0`, `plantstore_requests_total{outcome="refused",error="409"} 1`,
		`plantstore_plants_created_total 1`,
	} {
		if !strings.Contains(metrics, "\n"+line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
	if log := server.Log(); strings.Contains(log, `"level":"ERROR"`) || !strings.Contains(log, `"outcome":"fault"`) {
		t.Errorf("the log is\n%s", log)
	}
}

// TestConformance checks that the contract holds for requests without Prefer if faults are
// switched on, with a rate limit and with a public key, which the command has, too.
func TestConformance(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	openssl := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), tools.Require(t, "openssl"), args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, out)
		}
	}
	openssl("genrsa", "-traditional", "-out", "key.pem", "3072")
	openssl("pkey", "-in", "key.pem", "-pubout", "-out", "key.pub")
	server := plantstore.Start(t, plantstore.Options{Dir: dir, Env: []string{"FAULTS=always", "RATE_LIMIT=500/s", "JWT_PUBLIC_KEYS=key.pub", "LOG_LEVEL=error"}})
	token := server.Token("--key", "key.pem", "--alg", "PS512")
	out, err := plantstore.Command(t, dir, nil, "conformance", "--url", server.BaseURL, "--fresh", "--format", "junit",
		"--token", token, "--key", "key.pem", "--alg", "PS512", "--rate-limit", "500/s").CombinedOutput()
	text := string(out)
	if err != nil || !strings.Contains(text, "429 for too many requests") || strings.Contains(text, "<failure") || strings.Contains(text, "needs the HS256 secret") {
		t.Errorf("%v\n%s", err, text)
	}
	if _, err := os.Stat(filepath.Join(dir, "data", "jwt-secret")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a secret was generated: %v", err)
	}
}

// TestFaultsNeedConsent checks that faults are refused where clients may not expect them.
func TestFaultsNeedConsent(t *testing.T) {
	t.Parallel()
	_, err := plantstore.Try(t, plantstore.Options{Env: []string{"FAULTS=on"}})
	if err == nil || !strings.Contains(err.Error(), "the store is permanent") || !strings.Contains(err.Error(), "exit status 2") {
		t.Errorf("FAULTS=on: %v", err)
	}
}
