package e2e

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
	"plantstore/models"
)

// exchange returns the response to the bytes of a request, and its bytes without Date, the value of a new
// request id, and Preference-Applied, the value of which it returns. It does not close its side before the
// response has arrived.
func exchange(t *testing.T, server *plantstore.Server, request string) (r plantstore.Reply, text, applied string) {
	t.Helper()
	conn := plantstore.Dial(t, server.BaseURL)
	var raw strings.Builder
	conn.In = bufio.NewReader(io.TeeReader(conn, &raw))
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_ = conn.Send(request) // the server may refuse before it has read the complete request
	}()
	r, err := conn.Receive()
	if err != nil {
		t.Fatalf("the response to %.60q: %q, %v", request, r.Body, err)
	}
	_ = conn.Close()
	<-sent
	text = regexp.MustCompile(`\r\nDate: [^\r]*`).ReplaceAllString(raw.String(), "")
	text = regexp.MustCompile(`\r\nX-Request-Id: [A-Z2-7]{26}\r`).ReplaceAllString(text, "\r\nX-Request-Id: NEW\r")
	applied = r.Header.Get("Preference-Applied")
	return r, strings.Replace(text, "\r\nPreference-Applied: "+applied, "", 1), applied
}

// failingRequests returns the requests for real failures by the preferences for them. The plant is
// stored, and the weak token lacks the scope. A request that is refused before its body was read has
// one, since the connection closes then.
func failingRequests(id, token, weak, plant string) map[string]string {
	instead := func(old, changed string) string {
		return strings.Replace(plantstore.Create(token, "{}", id), old, changed, 1)
	}
	return map[string]string{
		"code=400":                    plantstore.Create(token, "", id),
		"code=401":                    instead("Authorization: Bearer "+token+"\r\n", ""),
		"code=403":                    plantstore.Create(weak, plant, id),
		"code=404":                    instead("/plants", "/nowhere"),
		"code=405":                    instead("POST", "PUT"),
		"code=408":                    plantstore.Header(token, id, "Content-Length: 9") + "{",
		"code=409":                    plantstore.Create(token, `{"id":7,"name":"b"}`, id),
		"code=409; outcome=identical": plantstore.Create(token, plant, id),
		"code=413":                    plantstore.Header(token, id, "Content-Length: 1048577"),
		"code=415":                    instead("Content-Type: application/json\r\n", ""),
		"code=417":                    plantstore.Create(token, plant, id, "Expect: a miracle"),
		"code=422":                    plantstore.Create(token, `{}`, id),
		"code=429":                    plantstore.Create(token, plant, id),
		"code=431":                    plantstore.Create(token, plant, id, "X-Filler: "+strings.Repeat("x", 64<<10)),
		"code=501":                    plantstore.Header(token, id, "Transfer-Encoding: gzip"),
		"code=505":                    instead("HTTP/1.1", "HTTP/3.0"),
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
	checker := newChecker(t)
	in := func(t *testing.T, version string, server *plantstore.Server, request string) (text, applied string) {
		t.Helper()
		r, text, applied := exchange(t, server, strings.Replace(request, "HTTP/1.1", version, 1))
		if err := checker.check(r); err != nil {
			t.Error(err)
		}
		return text, applied
	}
	for _, body := range []string{plant, `{"id":9223372036854775807,"name":"a","tag":"b","height":[1,{}]}`} {
		if r := plain.Post(token, body); checker.check(r) != nil || r.Status != http.StatusOK {
			t.Errorf("%+v: %v", r, checker.check(r))
		}
	}
	tested := map[string]bool{}
	for preference, request := range failingRequests(id, token, weak, plant) {
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
	checker := newChecker(t)
	const plant = `{"id":7,"name":"a"}`
	for _, step := range []struct {
		preference string
		want       models.Code
	}{
		{"code=503", 503}, {"code=507, delay=50ms", 507}, {"code=500", 500}, {"code=500; outcome=stored", 500}, {"code=500; outcome=stored", 409},
	} {
		r, _, _ := exchange(t, server, plantstore.Create(token, plant, "Prefer: "+step.preference))
		if err := checker.check(r); err != nil || r.Code != step.want || r.Closes {
			t.Errorf("%s: error %d (%s), want %d; it closes the connection: %t, %v", step.preference, r.Code, r.Message, step.want, r.Closes, err)
		}
	}
	exchange(t, server, plantstore.Create("bad", plant, "Prefer: code=503"))
	exchange(t, server, plantstore.Create(token, plant, "Prefer: code=501"))
	if shown := plantstore.Run(t, server.Dir, "requests"); strings.Count(shown, "; note: on demand (Prefer)") != 5 {
		t.Errorf("requests on demand: 5 of\n%s", shown)
	}
	metrics := server.Metrics()
	for series, want := range map[string]float64{
		`plantstore_token_cache_misses_total`: 1, `plantstore_token_cache_hits_total`: 5, `plantstore_credentials_refused_total{reason="malformed"}`: 1,
		`plantstore_faults_total{fault="500"}`: 2, `plantstore_faults_total{fault="503"}`: 1, `plantstore_faults_total{fault="delay"}`: 1,
		`plantstore_requests_total{outcome="failed",error="500"}`: 0, `plantstore_requests_total{outcome="refused",error="409"}`: 1,
		`plantstore_plants_created_total`: 1,
	} {
		if got, there := metrics[series]; got != want || !there {
			t.Errorf("%s is %v, want %v", series, got, want)
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
	key, public := filepath.Join(dir, "key.pem"), filepath.Join(dir, "key.pub")
	process.Run(t, tools.Require(t, "openssl"), "genrsa", "-traditional", "-out", key, "3072")
	process.Run(t, "openssl", "pkey", "-in", key, "-pubout", "-out", public)
	server := plantstore.Start(t, plantstore.Options{Dir: dir, Env: []string{"FAULTS=always", "RATE_LIMIT=500/s", "JWT_PUBLIC_KEYS=key.pub", "LOG_LEVEL=error"}})
	token := server.Token("--key", "key.pem", "--alg", "PS512")
	out, err := plantstore.Command(t, dir, nil, "conformance", "--url", server.BaseURL, "--level", "wire", "--fresh", "--format", "junit",
		"--token", token, "--key", "key.pem", "--alg", "PS512", "--rate-limit", "500/s").CombinedOutput()
	text := string(out)
	if err != nil || !strings.Contains(text, "429 for too many requests") || strings.Contains(text, "<failure") || strings.Contains(text, "needs the HS256 secret") {
		t.Errorf("%v\n%s", err, text)
	}
	if _, err := os.Stat(filepath.Join(dir, "data", "jwt-secret")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a secret was generated: %v", err)
	}
}
