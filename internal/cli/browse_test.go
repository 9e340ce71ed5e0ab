package cli_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"plantstore/internal/cli"
	"plantstore/internal/must"
)

// A browsing is plantstore plants browse in this process.
type browsing struct {
	link string
	stop func() int // as Ctrl-C does
}

// startBrowse starts the command and returns when it has printed its link.
func startBrowse(t *testing.T, args ...string) browsing {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	lines, stdout := io.Pipe()
	exited := make(chan int, 1)
	go func() {
		exited <- cli.Main(ctx, cli.Process{
			Name: "plantstore", Engines: engines(),
			Args:   append([]string{"plantstore", "plants", "browse"}, args...),
			Stdout: stdout, Stderr: io.Discard,
		})
	}()
	link := must.Get(bufio.NewReader(lines).ReadString('\n'))(t)
	return browsing{strings.TrimSpace(link), func() int { cancel(); return <-exited }}
}

// get requests a path of the page with its key and returns the body.
func (b browsing) get(t *testing.T, path string) string {
	t.Helper()
	base, key, found := strings.Cut(b.link, "#key=")
	if !found {
		t.Fatalf("the link is %s", b.link)
	}
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, http.NoBody))(t)
	request.Header.Set("Authorization", "Bearer "+key)
	_, body := roundTrip(t, request)
	return body
}

// TestBrowse checks that the page reads the file, then the server that starts meanwhile, then
// the file again.
func TestBrowse(t *testing.T) {
	t.Chdir(t.TempDir())
	stored(t, record(7, "Aloe", "-"))
	b := startBrowse(t)
	check := func(place, plants, count string) {
		t.Helper()
		if got, want := b.get(t, "api/plants"), `{"plants":[`+plants+`],"searched":`+count+`}`; got != want {
			t.Errorf("%s: plants %s, want %s", place, got, want)
		}
		if got, want := b.get(t, "api/count"), `{"place":"data/plants.db, read from the `+place+`","plants":`+count+`}`; got != want {
			t.Errorf("count %s, want %s", got, want)
		}
	}
	aloe, ficus := `{"id":"7","name":{"text":"Aloe"}}`, `{"id":"8","name":{"text":"Ficus"},"tag":{"text":""}}`
	check("file: no server runs", aloe, "1")
	server := startServer(t, "plantstore", nil)
	if status, body := post(t, server.ready(t).BaseURL, token(t, nil), `{"id":8,"name":"Ficus","tag":""}`); status != 200 {
		t.Error(body)
	}
	check("running server", aloe+","+ficus, "2")
	if code := server.stop(); code != 0 {
		t.Errorf("the server ended with %d:\n%s", code, server.log())
	}
	check("file: no server runs", aloe+","+ficus, "2")
	address, _, _ := strings.Cut(strings.TrimPrefix(b.link, "http://"), "/")
	silent := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", address))(t) // as browsers connect ahead
	defer func() { _ = silent.Close() }()
	if code := b.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address); err == nil {
		_ = conn.Close()
		t.Error("the port is open after the command")
	}
}

// TestBrowseCorruptRecord checks that a corrupt record does not hide the others, and the error
// is the same through a server.
func TestBrowseCorruptRecord(t *testing.T) {
	t.Chdir(t.TempDir())
	stored(t, record(1, "Aloe", "-"), record(2, "Monstera", "-"), record(3, "Ficus", "-"))
	writeFile(t, "data/plants.db", strings.ReplaceAll(readFile(t, "data/plants.db"), `"Monstera"`, `"Monsteri"`))
	onBoth(t, func(t *testing.T) {
		b := startBrowse(t)
		const corrupt = `"corrupt":{"id":"2","error":"the database is corrupt: id 2: wrong checksum"}}`
		for path, want := range map[string]string{
			"api/plants":               `{"plants":[{"id":"1","name":{"text":"Aloe"}}],"searched":1,"next":"3",` + corrupt,
			"api/plants?from=3":        `{"plants":[{"id":"3","name":{"text":"Ficus"}}],"searched":1}`,
			"api/plants?name=f&from=2": `{"plants":[],"searched":0,"next":"3",` + corrupt,
			"api/highest":              `{"id":"3"}`,
		} {
			if got := b.get(t, path); got != want {
				t.Errorf("%s:\n%s, want\n%s", path, got, want)
			}
		}
		if code := b.stop(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}

// TestBrowseFails checks that each error is reported before a link is printed.
func TestBrowseFails(t *testing.T) {
	t.Chdir(t.TempDir())
	checkFailure(t, run(t, nil, "plants", "browse", "--port", "65536"), 2, `invalid value "65536" for flag -port: *`, "see: plantstore plants browse --help")
	checkFailure(t, run(t, nil, "plants", "browse"), 1, "database data/plants.db cannot be opened: no such file or directory; *")
	stored(t)
	b := startBrowse(t)
	defer b.stop()
	base, _, _ := strings.Cut(b.link, "/#")
	port := strings.TrimPrefix(base, "http://127.0.0.1:")
	r := run(t, nil, "plants", "browse", "--port", port)
	if r.code != 1 || !strings.HasPrefix(r.stderr, "plantstore: cannot listen on 127.0.0.1:"+port+": ") ||
		!strings.HasSuffix(r.stderr, "; choose another port with --port, or omit it for any free port\n") {
		t.Errorf("%+v", r)
	}
}
