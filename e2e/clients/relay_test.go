package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
)

// leastJudged is how many responses prism must have judged at least.
const leastJudged = 300

// A relay forwards each valid HTTP request to prism, which checks the request, forwards it
// to the server, and checks its response. If prism refuses a request, the relay sends it
// directly to the server, so that the run continues.
type relay struct {
	server, prism string
	client        *http.Client

	mu              sync.Mutex
	judged, refused int
	violations      []string
}

// ServeHTTP implements [http.Handler].
func (r *relay) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	response, text, err := r.forward(request, body, r.prism)
	if err != nil || strings.Contains(response.Header.Get("Content-Type"), "problem+json") {
		r.note(request, body, response, text)
		response, text, err = r.forward(request, body, r.server)
	} else {
		r.mu.Lock()
		r.judged++
		r.mu.Unlock()
	}
	if err != nil {
		return
	}
	maps.Copy(w.Header(), response.Header)
	w.WriteHeader(response.StatusCode)
	_, _ = w.Write(text)
}

// forward forwards a request to a server.
func (r *relay) forward(request *http.Request, body []byte, base string) (*http.Response, []byte, error) {
	url := base + request.URL.RequestURI()
	out, err := http.NewRequestWithContext(request.Context(), request.Method, url, bytes.NewReader(body)) //nolint:gosec // on is where a relay sends
	if err != nil {
		return nil, nil, err
	}
	out.Header = request.Header.Clone()
	response, err := r.client.Do(out) //nolint:gosec // as above
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return response, text, err
}

// note records prism's violations of a response of the server. Those of a request are the
// client's.
func (r *relay) note(request *http.Request, body []byte, response *http.Response, text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var problem struct {
		Type       string `json:"type"`
		Validation []struct {
			Location []string `json:"location"`
		} `json:"validation"`
	}
	r.refused++
	if response == nil || json.Unmarshal(text, &problem) != nil || !strings.HasSuffix(problem.Type, "#VIOLATIONS") {
		return
	}
	for _, v := range problem.Validation {
		if len(v.Location) > 0 && v.Location[0] == "response" {
			r.violations = append(r.violations, fmt.Sprintf("%s %s %.100q: %s", request.Method, request.URL, body, text))
			return
		}
	}
}

// startPrism starts prism, with a description, in front of the server and returns
// its base URL.
func startPrism(t *testing.T, server *plantstore.Server, description string) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	_ = listener.Close()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd := exec.CommandContext(t.Context(), tools.Require(t, "prism"),
		"proxy", description, server.BaseURL, "--errors", "--host", "127.0.0.1", "--port", port)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	for deadline := time.Now().Add(patience); ; {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
		if err == nil {
			_ = conn.Close()
			return "http://" + addr
		}
		if time.Now().After(deadline) {
			t.Fatalf("prism is not there: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Prism is a proxy between the conformance run and the server, with the server's own
// description, and finds no violation of it.
func TestPrismFindsNoViolation(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{})
	r := &relay{server: server.BaseURL, prism: startPrism(t, server, server.DescriptionURL), client: &http.Client{Timeout: patience}}
	front := httptest.NewServer(r)
	defer front.Close()
	// The relay is not a plant store, so that only prism's results count.
	out, err := plantstore.Command(t, t.TempDir(), nil, "conformance", "--url", front.URL, "--token", server.Token()).CombinedOutput()
	if !bytes.Contains(out, []byte("deviates from the contract")) {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("prism judged %d responses, and refused %d requests", r.judged, r.refused)
	for _, v := range r.violations {
		t.Error(v)
	}
	if r.judged < leastJudged {
		t.Errorf("prism has judged only %d responses, want at least %d\n%s", r.judged, leastJudged, out)
	}
}

// With a wrong description, prism finds violations.
func TestPrismFindsViolation(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	description := w.run("curl", "--silent", "--fail", w.server.DescriptionURL)
	w.write("openapi.yaml", strings.Replace(description, "unevaluatedProperties: false", "required: [height]", 1))
	r := &relay{
		server: w.server.BaseURL, prism: startPrism(t, w.server, filepath.Join(w.dir, "openapi.yaml")),
		client: &http.Client{Timeout: patience},
	}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/plants", strings.NewReader(`{"id":1,"name":"a","tag":"b"}`))
	request.Header.Set("Authorization", "Bearer "+w.token)
	request.Header.Set("Content-Type", "application/json")
	r.ServeHTTP(httptest.NewRecorder(), request)
	if len(r.violations) != 1 {
		t.Errorf("%d responses judged, %d requests refused, violations %q", r.judged, r.refused, r.violations)
	}
}
