package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/cli"
	"plantstore/internal/must"
	"plantstore/internal/watchdog"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// patience bounds every wait; it is far above the usual duration.
const patience = 30 * time.Second

// secret is a valid secret.
const secret = "a secret of the tests, long enough for HS256"

func TestMain(m *testing.M) { watchdog.Main(m) }

// A result is the exit code and the output of a run of the program.
type result struct {
	code           int
	stdout, stderr string
}

// engines returns the engine of plantstore, and one that is reached over a network and never opened.
func engines() storage.Engines { return storage.Engines{"bbolt": bbolt.Open, "network": nil} }

// run runs the program with these arguments, and only environ as its environment.
func run(t testing.TB, environ []string, args ...string) result {
	t.Helper()
	return runWith(t, environ, "", args...)
}

// runWith is run with something on stdin.
func runWith(t testing.TB, environ []string, stdin string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stdout, stderr strings.Builder
	code := runProcess(ctx, cli.Process{Environ: environ, Stdin: strings.NewReader(stdin), Stdout: &stdout, Stderr: &stderr}, args...)
	return result{code, stdout.String(), stderr.String()}
}

// runProcess runs the program until it ends, or ctx is done.
func runProcess(ctx context.Context, p cli.Process, args ...string) (code int) {
	p.Name, p.Args, p.Engines = "plantstore", append([]string{"plantstore"}, args...), engines()
	return cli.Main(ctx, p)
}

// output runs the program, which must succeed with empty stderr, and returns its
// stdout.
func output(t testing.TB, environ []string, args ...string) string {
	t.Helper()
	r := run(t, environ, args...)
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("plantstore %q: exit code %d, stderr:\n%s", args, r.code, r.stderr)
	}
	return r.stdout
}

// checkFailure checks that a run ended with that code, and printed exactly these lines on
// stderr. An asterisk at the end of a line stands for anything.
func checkFailure(t *testing.T, r result, code int, lines ...string) {
	t.Helper()
	if problem := r.failure(code, lines...); problem != "" {
		t.Error(problem)
	}
}

// failure returns what is wrong if a run did not fail as in [checkFailure].
func (r result) failure(code int, lines ...string) string {
	if r.code != code || r.stdout != "" {
		return fmt.Sprintf("exit code %d, want %d; stdout %q, want none; stderr:\n%s", r.code, code, r.stdout, r.stderr)
	}
	got := strings.Split(strings.TrimSuffix(r.stderr, "\n"), "\n")
	want := make([]string, len(lines))
	for i, line := range lines {
		want[i] = "plantstore: " + line
		if start, open := strings.CutSuffix(want[i], "*"); open && i < len(got) && strings.HasPrefix(got[i], start) {
			got[i] = want[i]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return "stderr (-want +got):\n" + diff
	}
	return ""
}

// writeFile writes a file in the working directory.
func writeFile(t *testing.T, name, contents string) {
	t.Helper()
	must.Do(t, os.WriteFile(name, []byte(contents), 0o600))
}

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
