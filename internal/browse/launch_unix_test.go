//go:build unix

package browse_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"plantstore/internal/browse"
	"plantstore/storage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve serves a site without a store. stop ends it.
func serve(t *testing.T) (site *browse.Site, stop func()) {
	t.Helper()
	site, err := browse.Listen(t.Context(), 0, func(context.Context) (*storage.Store, string, func() error, error) { return nil, "", nil, os.ErrNotExist })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- site.Run(ctx) }()
	return site, func() {
		cancel()
		if err := errors.Join(<-ended, site.Close()); err != nil {
			t.Error(err)
		}
	}
}

// browserScript writes a program that writes its arguments to the file args, and ends.
func browserScript(t *testing.T) (program, args string) {
	t.Helper()
	dir := t.TempDir()
	program, args = filepath.Join(dir, "browser"), filepath.Join(dir, "args")
	script := "#!/bin/sh\nfor a; do echo \"$a\"; done > " + args + ".new; mv " + args + ".new " + args + "\nexit 3\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	return program, args
}

// TestLaunch checks that the browser gets a file that only this user can read: its arguments are
// visible to others.
func TestLaunch(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	site, stop := serve(t)
	program, args := browserScript(t)
	failed := make(chan error, 1)
	environ := map[string]string{"BROWSER": "/no/such/browser:" + program + " --new-window %s --last"}
	if err := site.Launch(environ, func(err error) { failed <- err }); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("the browser failed with %v", err)
	}
	text, err := os.ReadFile(args)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	base, key, _ := strings.Cut(site.Link(), "#key=")
	if len(lines) != 3 || lines[0] != "--new-window" || lines[2] != "--last" || strings.Contains(string(text), key) {
		t.Fatalf("the arguments are %q", lines)
	}
	page, err := os.ReadFile(lines[1])
	if err != nil || !strings.Contains(string(page), `content="0; url=`+site.Link()+`"`) {
		t.Errorf("%s, %v", page, err)
	}
	for path, want := range map[string]os.FileMode{lines[1]: 0o600, filepath.Dir(lines[1]): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}

	request := func(key string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"api/plants", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
	}
	request("wrong")
	if _, err := os.Stat(lines[1]); err != nil {
		t.Errorf("after a request without the key: %v", err)
	}
	request(key)
	if _, err := os.Stat(filepath.Dir(lines[1])); err == nil {
		t.Error("the file is still there after the page was loaded")
	}
	stop()
}

// TestLaunchedButNotOpened checks that the file is removed at the end even if the page was never
// loaded.
func TestLaunchedButNotOpened(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	site, stop := serve(t)
	program, _ := browserScript(t)
	ended := make(chan error, 1)
	if err := site.Launch(map[string]string{"BROWSER": program}, func(err error) { ended <- err }); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("the browser succeeded")
	}
	stop()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestNoBrowser(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	site, stop := serve(t)
	defer stop()
	for _, command := range []string{"/no/such/browser", "/no/such/browser:/nor/this %s"} {
		if err := site.Launch(map[string]string{"BROWSER": command}, nil); err == nil || !strings.Contains(err.Error(), "/no/such/browser") {
			t.Errorf("%s: %v", command, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

// TestConnectionLimit checks that connections beyond the limit wait until another ends.
func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	site, stop := serve(t)
	defer stop()
	address, _, _ := strings.Cut(strings.TrimPrefix(site.Link(), "http://"), "/")
	var conns []net.Conn
	for range 101 {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		conns = append(conns, conn)
	}
	respond := func(conn net.Conn) error {
		if _, err := io.WriteString(conn, "GET /icon.svg HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			return err
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}
	answered := make(chan error, 1)
	go func() { answered <- respond(conns[100]) }()
	select {
	case err := <-answered:
		t.Fatalf("a response on the connection beyond the limit: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	_ = conns[0].Close()
	if err := <-answered; err != nil {
		t.Error(err)
	}
}
