package plantstore

import (
	"bufio"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"plantstore/internal/must"
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
	out := must.Get(b.cmd.StdoutPipe())(t)
	must.Do(t, b.cmd.Start())
	t.Cleanup(b.Stop)
	link := must.Get(bufio.NewReader(out).ReadString('\n'))(t)
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
	return must.Get(Do(b.t.Context(), NewClient(b.t), http.MethodGet, base+path, "", "Authorization", "Bearer "+key))(b.t).Body
}
