package cli_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"plantstore/internal/cli"
	"plantstore/internal/must"
)

// TestBrowse checks that the page of plants browse reads the file, then the server that starts
// meanwhile, then the file again, and that the port is closed when the command has ended.
func TestBrowse(t *testing.T) {
	t.Chdir(t.TempDir())
	runWith(t, nil, `{"id":7,"name":"Aloe"}`, "plants", "import", "-")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	lines, stdout := io.Pipe()
	exited := make(chan int, 1)
	go func() { exited <- runProcess(ctx, cli.Process{Stdout: stdout, Stderr: io.Discard}, "plants", "browse") }()
	link := strings.TrimSpace(must.Get(bufio.NewReader(lines).ReadString('\n'))(t))
	base, key, _ := strings.Cut(link, "#key=")
	started := regexp.MustCompile(`"started":"[^"]+",`)
	check := func(path, want string) {
		t.Helper()
		request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, http.NoBody))(t)
		request.Header.Set("Authorization", "Bearer "+key)
		_, got := roundTrip(t, request)
		if got = started.ReplaceAllString(got, ""); got != want+"\n" {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	check("page/plants", `{"plants":[{"id":"7","name":{"text":"Aloe"}}],"searched":1}`)
	check("count", `{"place":"data/plants.db, read from the file: no server runs","plants":1}`)
	server := startServer(t, nil)
	if status, body := post(t, server.ready(t).BaseURL, token(t, nil), `{"id":8,"name":"Ficus","tag":""}`); status != http.StatusOK {
		t.Error(body)
	}
	const both = `{"plants":[{"id":"7","name":{"text":"Aloe"}},{"id":"8","name":{"text":"Ficus"},"tag":{"text":""}}],"searched":2}`
	check("page/plants", both)
	check("count", fmt.Sprintf(`{"version":"devel","base_url":%q,"place":"data/plants.db, read from the running server","max_body_bytes":1048576,"plants":2}`, server.ready(t).BaseURL))
	server.stop()
	check("page/plants", both)
	address, _, _ := strings.Cut(strings.TrimPrefix(link, "http://"), "/")
	silent := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", address))(t) // as browsers connect ahead
	defer func() { _ = silent.Close() }()
	cancel()
	if code := <-exited; code != 0 {
		t.Errorf("exit code %d", code)
	}
	if conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address); err == nil {
		_ = conn.Close()
		t.Error("the port is open after the command")
	}
}
