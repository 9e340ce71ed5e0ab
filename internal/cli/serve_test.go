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
	first string            // line on stderr
	sofar func() string     // the other lines that it has printed so far
	log   func() string     // all other lines, after it has stopped
	stop  func() (code int) // as SIGTERM does
}

// startServer starts a server and returns after its first line, which it prints when it is
// ready. name is the name of the program.
func startServer(t *testing.T, name string, environ []string, args ...string) server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	lines, stderr := io.Pipe()
	exited := make(chan int, 1)
	go func() {
		code := cli.Main(ctx, cli.Process{
			Name: "plantstore", Engines: engines(),
			Args:    append([]string{name, "serve", "--addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0"}, args...),
			Environ: environ,
			Stdout:  io.Discard,
			Stderr:  stderr,
		})
		_ = stderr.Close()
		exited <- code
	}()
	reader := bufio.NewReader(lines)
	first := must.Get(reader.ReadString('\n'))(t)
	var mu sync.Mutex
	var rest strings.Builder
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
	Level          string `json:"level"`
	Message        string `json:"msg"`
	BaseURL        string `json:"base_url"`
	DescriptionURL string `json:"description_url"`
	AdminURL       string `json:"admin_url"`
	Data           string `json:"data"`
	TokenCommand   string `json:"token_command"`
	Addr           string `json:"addr"`
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

// TestTokenCommand checks that the server names the exact command that gets a token which it
// accepts, whatever it was started with.
func TestTokenCommand(t *testing.T) {
	tests := map[string]struct {
		name    string
		environ []string
		args    []string
		want    string
	}{
		"from PATH": {"plantstore", nil, nil, "plantstore token"},
		"by path":   {"./bin/plantstore", nil, nil, "./bin/plantstore token"},
		"odd path":  {"/my plants/it's", nil, nil, `'/my plants/it'\''s' token`},
		"flags": {
			"plantstore", nil,
			[]string{"--storage-url", "bbolt:my plants.db", "--jwt-issuer=i", "--jwt-audience", "$a", "--jwt-scope=s", "--log-level=debug"},
			"plantstore token --storage-url 'bbolt:my plants.db' --jwt-issuer i --jwt-audience '$a' --jwt-scope s",
		},
		"flag equal to the default": {
			"plantstore",
			[]string{"STORAGE_URL=else.db"},
			[]string{"--storage-url", "bbolt:data/plants.db"},
			"plantstore token --storage-url bbolt:data/plants.db",
		},
		"empty flag":       {"plantstore", []string{"JWT_ISSUER=i"}, []string{"--jwt-issuer="}, "plantstore token --jwt-issuer ''"},
		"environment":      {"plantstore", []string{"JWT_ISSUER=i", "JWT_REQUIRE_EXP=true"}, nil, "plantstore token --jwt-issuer i"},
		"secret file":      {"plantstore", []string{"JWT_SECRET_FILE=key"}, nil, "plantstore token --jwt-secret-file key"},
		"secret is hidden": {"plantstore", []string{"JWT_SECRET=" + secret}, nil, `JWT_SECRET="${JWT_SECRET:?}" plantstore token`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			writeFile(t, "key", secret)
			writeFile(t, ".env", "JWT_AUDIENCE=dotenv\nSHUTDOWN_DELAY=3ms\n") // which token reads by itself
			s := startServer(t, test.name, test.environ, test.args...)
			if got := s.ready(t).TokenCommand; got != test.want {
				t.Errorf("the command is %s, want %s", got, test.want)
			}
		})
	}
}

// TestSecondServer checks that a second server in the same directory reports the database before the
// address: with another address, it would fail, too.
func TestSecondServer(t *testing.T) {
	t.Chdir(t.TempDir())
	addr := startServer(t, "plantstore", nil).ready(t).Addr
	checkFailure(t, run(t, nil, "serve", "--addr", addr, "--admin-addr", "off"), 1,
		"a server runs on data/plants.db: stop it first, or name another database with --storage-url or STORAGE_URL",
		addr+" is in use by another program; choose another address with --addr or ADDR")
}
