package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"plantstore/internal/cli"
	"plantstore/internal/must"
)

// A server is plantstore serve in this process.
type server struct {
	first string            // line of the banner
	sofar func() string     // the other lines that it has printed so far
	log   func() string     // all other lines, after it has stopped
	stop  func() (code int) // as SIGTERM does
}

// startServer starts a server and returns after its banner, which only warnings precede.
func startServer(t *testing.T, environ []string, args ...string) server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	lines, stderr := io.Pipe()
	exited := make(chan int, 1)
	go func() {
		code := runProcess(ctx, cli.Process{Environ: environ, Stdout: io.Discard, Stderr: stderr},
			append([]string{"serve", "--addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0"}, args...)...)
		_ = stderr.Close()
		exited <- code
	}()
	reader := bufio.NewReader(lines)
	var mu sync.Mutex
	var rest strings.Builder
	first := must.Get(reader.ReadString('\n'))(t)
	for strings.Contains(first, `"level":"WARN"`) { // of the configuration
		rest.WriteString(first)
		first = must.Get(reader.ReadString('\n'))(t)
	}
	sofar := func() string {
		mu.Lock()
		defer mu.Unlock()
		return rest.String()
	}
	var follow sync.WaitGroup
	follow.Go(func() {
		for {
			line, err := reader.ReadString('\n')
			mu.Lock()
			rest.WriteString(line)
			mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	stop := sync.OnceValue(func() int {
		cancel()
		follow.Wait()
		return <-exited
	})
	t.Cleanup(func() { stop() })
	return server{first, sofar, func() string { stop(); return sofar() }, stop}
}

// A readyRecord is the banner of a server as JSON.
type readyRecord struct {
	Message      string `json:"msg"`
	BaseURL      string `json:"base_url"`
	AdminURL     string `json:"admin_url"`
	TokenCommand string `json:"token_command"`
	Addr         string `json:"addr"`
}

// ready returns the ready record of a server that logs JSON.
func (s server) ready(t testing.TB) readyRecord {
	t.Helper()
	var r readyRecord
	if err := json.Unmarshal([]byte(s.first), &r); err != nil || r.Message != "ready" {
		t.Fatalf("the first line is %q: %v", s.first, err)
	}
	return r
}

// post sends a plant and returns the status and the body of the response.
func post(t *testing.T, baseURL, token, plant string) (status int, body string) {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, baseURL+"/plants", strings.NewReader(plant)))(t)
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	return roundTrip(t, request)
}

// roundTrip returns the response to a request on a connection of its own.
func roundTrip(t *testing.T, request *http.Request) (status int, body string) {
	t.Helper()
	response := must.Get((&http.Transport{DisableKeepAlives: true}).RoundTrip(request))(t)
	defer response.Body.Close()
	text := must.Get(io.ReadAll(response.Body))(t)
	return response.StatusCode, string(text)
}
