package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"plantstore/internal/cli"
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
	first, err := reader.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
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
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, baseURL+"/plants", strings.NewReader(plant))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	return roundTrip(t, request)
}

// roundTrip returns the response to a request on a connection of its own.
func roundTrip(t *testing.T, request *http.Request) (status int, body string) {
	t.Helper()
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// TestServe checks a server from the first start to a plant that is still there after a
// restart.
func TestServe(t *testing.T) {
	t.Chdir(t.TempDir())
	const plant = `{"id":1,"name":"Monstera","tag":"climber"}`
	s := startServer(t, "plantstore", nil)
	ready := s.ready(t)
	if ready.DescriptionURL != ready.BaseURL+"/openapi.yaml" || ready.Data != "data/plants.db" ||
		ready.TokenCommand != "plantstore token" || ready.Level != "INFO" {
		t.Errorf("ready record %+v", ready)
	}
	issued := token(t, nil)
	if status, body := post(t, ready.BaseURL, issued, plant); status != 200 || body != `{"name":"Monstera","tag":"climber"}`+"\n" {
		t.Errorf("response %d %s", status, body)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("stopped it exits with %d, want 0; its log:\n%s", code, s.log())
	}

	again := startServer(t, "plantstore", nil)
	if status, body := post(t, again.ready(t).BaseURL, issued, plant); status != 400 || !strings.Contains(body, `"error":409`) {
		t.Errorf("after a restart the plant is not there: %d %s", status, body)
	}
	made, err := os.ReadFile(filepath.Join("data", "jwt-secret"))
	if err != nil {
		t.Fatal(err)
	}
	log := s.first + s.log() + again.first + again.log()
	for _, hidden := range []string{strings.TrimSpace(string(made)), issued} {
		if strings.Contains(log, hidden) {
			t.Errorf("the log contains %s (C4.25):\n%s", hidden, log)
		}
	}
	for _, outcome := range []string{`"outcome":"created"`, `"outcome":"refused"`} { // of the two creates
		line := regexp.MustCompile(`"msg":"request",.*` + outcome + `,.*"plant_id":1,.*"subject":"developer",.*"request_id":"[^"]+"`)
		if !line.MatchString(log) {
			t.Errorf("the log has no line %s:\n%s", line, log)
		}
	}
}

// TestServeInText checks that the banner for people lists the addresses and files in a few
// lines.
func TestServeInText(t *testing.T) {
	t.Chdir(t.TempDir())
	s := startServer(t, "plantstore", []string{"LOG_FORMAT=text"},
		"--storage-url", "here.db", "--base-url", "https://plants.example/", "--admin-addr", "off", "--faults", "always")
	s.stop()
	banner := []string{
		"The plant store is ready.",
		"  base URL     https://plants.example",
		"  try it       https://plants.example/docs",
		"  description  https://plants.example/openapi.yaml",
		"  metrics      (ADMIN_ADDR is off)",
		"  plants       here.db (0 stored)",
		"  get a token  plantstore token --storage-url here.db",
		"  errors       on demand (Prefer: code=503)",
	}
	if got := s.first + s.log(); !strings.HasPrefix(got, strings.Join(banner, "\n")+"\n") {
		t.Errorf("the output is\n%s\nwant it to begin with\n%s", got, strings.Join(banner, "\n"))
	}
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

// TestTokenCommandWithDotenv checks that a secret in .env is found by token, too, without
// flags.
func TestTokenCommandWithDotenv(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, ".env", "JWT_SECRET="+secret+"\nSTORAGE_URL=else.db\n")
	if got := startServer(t, "plantstore", nil).ready(t).TokenCommand; got != "plantstore token" {
		t.Errorf("the command is %s", got)
	}
}

func TestPortTaken(t *testing.T) {
	t.Chdir(t.TempDir())
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	addr := taken.Addr().String()
	const another = " is in use by another program; choose another address with "
	clients, admin := addr+another+"--addr or ADDR", addr+another+"--admin-addr or ADMIN_ADDR, or off for no probes and metrics"
	_, port, _ := net.SplitHostPort(addr)
	both := net.JoinHostPort("localhost", port)
	checkFailure(t, run(t, nil, "serve", "--addr", addr, "--admin-addr", "off"), 1, clients)
	checkFailure(t, run(t, nil, "serve", "--addr", "127.0.0.1:0", "--admin-addr", addr), 1, admin)
	checkFailure(t, run(t, nil, "serve", "--addr", addr, "--admin-addr", both), 1, clients, strings.Replace(admin, addr, both, 1))
	if entries, err := os.ReadDir("."); len(entries) != 0 || err != nil {
		t.Errorf("it has left something behind: %v, %v", entries, err)
	}
}

// TestWrongDatabases checks that each fault of the database is reported in one line that names
// the file.
func TestWrongDatabases(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "file", "these are no plants")
	startServer(t, "plantstore", nil, "--storage-url", "locked.db").ready(t)
	tests := map[string]struct {
		storage string
		code    int
		want    string
	}{
		"locked":           {"locked.db", 1, "a server runs on locked.db: stop it first, or name another database with --storage-url or STORAGE_URL"},
		"not a database":   {"file", 3, "database file *"},
		"a directory":      {".", 1, "database . is a directory: *"},
		"unknown engine":   {"nosuch://x", 2, `STORAGE_URL (--storage-url): "nosuch://x": storage URL has the unknown scheme "nosuch"; known: *`},
		"an engine's host": {"bbolt://host/x.db", 2, "storage URL names a host: *"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := run(t, []string{"JWT_SECRET=" + secret}, "serve", "--addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0", "--storage-url", test.storage)
			checkFailure(t, r, test.code, test.want)
		})
	}
}

func TestWrongAddresses(t *testing.T) {
	t.Parallel()
	// 192.0.2.0/24 is for documentation only (RFC 5737): no machine has it.
	checkFailure(t, run(t, nil, "serve", "--addr", "192.0.2.1:0", "--admin-addr", "off"), 1,
		"cannot listen on 192.0.2.1:0: bind: *")
}
