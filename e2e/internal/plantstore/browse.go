package plantstore

import (
	"bufio"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// A Browsing is a running plantstore plants browse.
type Browsing struct {
	// Link is the URL of the page with its key.
	Link string

	t   testing.TB
	cmd *exec.Cmd
}

// Browse runs the command in the directory dir until the test ends.
func Browse(t testing.TB, dir string, args ...string) *Browsing {
	t.Helper()
	b := &Browsing{t: t, cmd: Command(t, dir, nil, append([]string{"plants", "browse"}, args...)...)}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Stop)
	link, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	b.Link = strings.TrimSpace(link)
	return b
}

// Stop ends the command, like Ctrl-C.
func (b *Browsing) Stop() {
	b.t.Helper()
	if b.cmd.ProcessState != nil {
		return
	}
	_ = b.cmd.Process.Signal(syscall.SIGINT) // fails only if the process has exited
	if err := b.cmd.Wait(); err != nil {
		b.t.Errorf("plantstore plants browse: %v", err)
	}
}

// Get requests a path relative to the page, with its key, and returns the body.
func (b *Browsing) Get(path string) string {
	b.t.Helper()
	base, key, _ := strings.Cut(b.Link, "#key=")
	request, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, base+path, http.NoBody)
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return string(body)
}
