package e2e

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/certtest"
	"plantstore/models"
)

// rawExchange sends a request over TLS and returns the bytes of the response, see withoutPreference.
func rawExchange(t *testing.T, config *tls.Config, server *plantstore.Server, request string) (response, applied string) {
	t.Helper()
	conn := tls.Client(dial(t, server), config)
	defer func() { _ = conn.Close() }()
	go func() { _, _ = io.WriteString(conn, request) }()
	var raw []byte
	buffer := make([]byte, 4<<10)
	for !isComplete(raw) {
		n, err := conn.Read(buffer)
		raw = append(raw, buffer[:n]...)
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
	}
	return withoutPreference(raw)
}

// http2Exchange is rawExchange over HTTP/2, for a request of HTTP/1. A body that is shorter than
// its Content-Length does not end.
func http2Exchange(t *testing.T, client *http.Client, server *plantstore.Server, request string) (response, applied string) {
	t.Helper()
	rest, end := io.Pipe()
	defer func() { _ = end.Close() }()
	r, err := http.ReadRequest(bufio.NewReader(io.MultiReader(strings.NewReader(request), rest)))
	if err != nil {
		t.Fatal(err)
	}
	r.RequestURI, r.URL.Scheme, r.URL.Host = "", "https", strings.TrimPrefix(server.BaseURL, "https://")
	got, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(got.Body)
	_, _ = end.Close(), got.Body.Close()
	if err != nil || got.ProtoMajor != 2 {
		t.Fatalf("%s: %v", got.Proto, err)
	}
	header, err := httputil.DumpResponse(got, false)
	if err != nil {
		t.Fatal(err)
	}
	return withoutPreference(append(header, body...))
}

// withoutPreference returns a response without Date and Preference-Applied, the value of which it
// returns.
func withoutPreference(raw []byte) (response, applied string) {
	text := regexp.MustCompile(`\r\nDate: [^\r]*`).ReplaceAllString(string(raw), "")
	preference := regexp.MustCompile(`\r\nPreference-Applied: ([^\r]*)`)
	if found := preference.FindStringSubmatch(text); found != nil {
		applied = found[1]
	}
	return preference.ReplaceAllString(text, ""), applied
}

// isComplete reports whether a response has a complete body with an Error.
func isComplete(response []byte) bool {
	_, body, found := bytes.Cut(response, []byte("\r\n\r\n"))
	return found && json.Valid(body)
}

// failingRequests returns the requests for real failures by the preferences for them. The plant is
// stored, and the weak token lacks the scope.
func failingRequests(id, token, weak, plant string) map[string]string {
	headers := func(more ...string) []string {
		return append([]string{id, "Authorization: Bearer " + token, "Content-Type: application/json"}, more...)
	}
	return map[string]string{
		"code=400":                    rawRequest("POST /plants HTTP/1.1", headers("Content-Length: 0"), ""),
		"code=401":                    rawRequest("POST /plants HTTP/1.1", []string{id}, ""),
		"code=403":                    create(weak, plant, id),
		"code=404":                    rawRequest("POST /nowhere HTTP/1.1", []string{id}, ""),
		"code=405":                    rawRequest("GET /plants HTTP/1.1", []string{id}, ""),
		"code=408":                    rawRequest("POST /plants HTTP/1.1", headers("Content-Length: 9"), "{"),
		"code=409":                    create(token, `{"id":7,"name":"b"}`, id),
		"code=409; outcome=identical": create(token, plant, id),
		"code=413":                    rawRequest("POST /plants HTTP/1.1", headers("Content-Length: 1048577"), ""),
		"code=415":                    rawRequest("POST /plants HTTP/1.1", headers()[:2], ""),
		"code=417":                    create(token, plant, id, "Expect: a miracle"),
		"code=422":                    create(token, `{}`, id),
		"code=431":                    create(token, plant, id, strings.Repeat("X-Filler: x\r\n", 200)+"X-Filler: x"),
		"code=501":                    rawRequest("POST /plants HTTP/1.1", append([]string{id}, "Transfer-Encoding: gzip"), ""),
		"code=505":                    rawRequest("POST /plants HTTP/3.0", []string{id}, ""),
	}
}

// TestFaultsAreReal checks that a fault on demand is, byte for byte except for
// Preference-Applied, the response to the real failure, for each code that a client can provoke,
// in each version of HTTP (C1.7).
func TestFaultsAreReal(t *testing.T) {
	t.Parallel()
	authority := certtest.New(t)
	cert, key := authority.Issue(t.TempDir(), time.Now().Add(time.Hour))
	env := []string{
		"JWT_SECRET=" + strings.Repeat("s", 32), "JWT_SCOPE=plants:create", "CORS_ORIGINS=*", "REQUEST_TIMEOUT=2s",
		"TLS_CERT_FILE=" + cert, "TLS_KEY_FILE=" + key,
	}
	env = slices.Clip(env)
	faulty := plantstore.Start(t, plantstore.Options{Env: append(env, "FAULTS=on"), Args: []string{"--ephemeral"}})
	plain := plantstore.Start(t, plantstore.Options{Env: env})
	token, weak := plain.Token(), plain.Token("--jwt-scope", "plants:read")
	const id, plant = "X-Request-Id: same", `{"id":7,"name":"a"}`
	config := authority.Client()
	config.ServerName = "localhost"
	transport := &http.Transport{TLSClientConfig: config.Clone(), ForceAttemptHTTP2: true, DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Timeout: patience, Transport: transport}
	inVersion := func(t *testing.T, version string, server *plantstore.Server, request string) (response, applied string) {
		t.Helper()
		if version == "HTTP/2" {
			return http2Exchange(t, client, server, request)
		}
		return rawExchange(t, config, server, strings.Replace(request, "HTTP/1.1", version, 1))
	}
	versions := []string{"HTTP/1.0", "HTTP/1.1", "HTTP/2"}
	absent := []string{"HTTP/1.0, code=501", "HTTP/2, code=501", "HTTP/2, code=505"} // no request has these failures
	for _, body := range []string{plant, `{"id":8,"name":"a"}`} {
		if response, _ := inVersion(t, "HTTP/1.1", plain, create(token, body)); !strings.HasPrefix(response, "HTTP/1.1 200 ") {
			t.Fatal(response)
		}
	}
	tested := map[string]bool{"code=429": true}
	t.Run("code=429", func(t *testing.T) {
		t.Parallel()
		limited := plantstore.Start(t, plantstore.Options{Env: append(env, "RATE_LIMIT=1/s", "FAULTS=always")})
		for _, version := range versions {
			want := ""
			for !strings.Contains(want, `"error":429`) {
				want, _ = inVersion(t, version, limited, create(token, plant, id))
			}
			fresh := plain.Token("--subject", version) // within the limit
			got, applied := inVersion(t, version, limited, create(fresh, plant, id, "Prefer: code=429"))
			if diff := cmp.Diff(want, got); diff != "" || applied != "code=429" {
				t.Errorf("%s: Preference-Applied: %q (-real +on demand):\n%s", version, applied, diff)
			}
		}
	})
	for preference, request := range failingRequests(id, token, weak, plant) {
		name, _, _ := strings.Cut(preference, ";")
		tested[name] = true
		for _, version := range versions {
			if slices.Contains(absent, version+", "+preference) {
				continue
			}
			t.Run(version+", "+preference, func(t *testing.T) {
				t.Parallel()
				want, _ := inVersion(t, version, plain, request)
				got, applied := inVersion(t, version, faulty, create(token, plant, id, "Prefer: "+preference))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-real +on demand):\n%s", diff)
				}
				if applied != name {
					t.Errorf("Preference-Applied: %q, want %q", applied, name)
				}
			})
		}
	}
	rest := unprovoked()
	for _, c := range models.Codes() {
		if rest[c.Code] == "" && !tested["code="+c.Code.String()] {
			t.Errorf("error %v is not tested", c.Code)
		}
	}
}

// TestFaultsOfTheStore checks that faults of the store, which no client can provoke, are as
// documented, store a plant only with outcome=stored, and are counted separately.
func TestFaultsOfTheStore(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"FAULTS=on"}, Args: []string{"--ephemeral"}})
	token := strings.TrimSuffix(string(run(t, server, "token")), "\n")
	checker := checkerOf(t, server)
	const plant = `{"id":7,"name":"a"}`
	for _, step := range []struct {
		preference string
		want       models.Code
	}{
		{"code=503", 503}, {"code=507, delay=50ms", 507}, {"code=500", 500}, {"code=500; outcome=stored", 500}, {"code=500; outcome=stored", 409},
	} {
		response := exchange(t, server, create(token, plant, "Prefer: "+step.preference))
		if err := checker.Check(response); err != nil {
			t.Error(err)
		}
		if got := failure(t, response); got.Code != step.want {
			t.Errorf("%s: error %d (%s), want %d", step.preference, got.Code, got.Message, step.want)
		}
	}
	metrics := string(get(t, server.AdminURL+"/metrics"))
	for _, line := range []string{
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

// run runs a command on the store of a server with --ephemeral.
func run(t *testing.T, server *plantstore.Server, args ...string) []byte {
	t.Helper()
	database := regexp.MustCompile(`"data":"([^"]*)"`).FindStringSubmatch(server.Log())
	if database == nil {
		t.Fatalf("no database in\n%s", server.Log())
	}
	out, err := plantstore.Command(t, server.Dir, nil, slices.Concat(args, []string{"--storage-url", database[1]})...).Output()
	if err != nil {
		t.Fatalf("plantstore %q: %v", args, err)
	}
	return out
}

// TestFaultsCloseConnections checks that a fault closes the connection of HTTP/1 if and only if
// the real failure does.
func TestFaultsCloseConnections(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"FAULTS=always"}})
	token := server.Token()
	client := &http.Client{Timeout: patience}
	for i := range 3 {
		for _, code := range []models.Code{417, 431, 501, 505, 503} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.BaseURL+"/plants", strings.NewReader(fmt.Sprintf(`{"id":%d,"name":"a"}`, i)))
			if err != nil {
				t.Fatal(err)
			}
			request.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Prefer": {"code=" + code.String()}}
			response, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			if response.Close != (code != 503) {
				t.Errorf("%v: the connection closes: %v", code, response.Close)
			}
			if got := failure(t, response); got.Code != code {
				t.Errorf("error %d, want %d", got.Code, code)
			}
			_ = response.Body.Close()
		}
	}
}

// TestFaultsKeepTheContract checks that with faults switched on, the whole contract still holds
// for requests without Prefer.
func TestFaultsKeepTheContract(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"FAULTS=always"}})
	out, err := plantstore.Command(t, server.Dir, nil, "conformance", "--url", server.BaseURL, "--token", server.Token()).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
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
