package operate

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/terminal"
	"plantstore/internal/must"
)

// link matches the part of a link to the docs page that contains a token.
var link = regexp.MustCompile(`#token=[\w-]+\.[\w-]+\.[\w-]+`)

// serve starts a server on a terminal.
func serve(t *testing.T, dir string, env ...string) *terminal.Session {
	t.Helper()
	return terminal.Start(t, plantstore.Command(t, dir, append([]string{"ADDR=127.0.0.1:0"}, env...), "serve"))
}

// TestLinkOnTerminal checks that a link with a token is printed on terminals only, and only by a
// server with a generated secret that is reachable from this machine only (C4.25).
func TestLinkOnTerminal(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		env  []string
		want string // line of the link
	}{
		"by default":         {nil, "http://127.0.0.1:PORT/docs#token=TOKEN"},
		"IPv6":               {[]string{"ADDR=[::1]:0"}, "http://[::1]:PORT/docs#token=TOKEN"},
		"all interfaces":     {[]string{"ADDR=:0"}, "http://localhost:PORT/docs"},
		"BASE_URL":           {[]string{"BASE_URL=http://localhost:1"}, "http://localhost:PORT/docs"},
		"own secret":         {[]string{"JWT_SECRET=a secret of more than 32 bytes, as needed"}, "http://127.0.0.1:PORT/docs"},
		"own secret, a file": {[]string{"JWT_SECRET_FILE=secret"}, "http://127.0.0.1:PORT/docs"},
		"TERM": {
			[]string{"TERM=xterm"},
			"\x1b]8;;http://127.0.0.1:PORT/docs#token=TOKEN\x1b\\http://127.0.0.1:PORT/docs#token=TOKEN\x1b]8;;\x1b\\",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must.Do(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("a secret of more than 32 bytes, as needed"), 0o600))
			line := serve(t, dir, test.env...).Await(t, "/docs")
			line = regexp.MustCompile(`:\d+/`).ReplaceAllString(link.ReplaceAllString(line, "#token=TOKEN"), ":PORT/")
			if line != test.want {
				t.Errorf("the link is\n%q, want\n%q", line, test.want)
			}
		})
	}
}

// TestLinkOfCommands checks that commands print their link as a hyperlink on a terminal that has them.
func TestLinkOfCommands(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{})
	for command, prefix := range map[string]string{"token --link --base-url http://h": "http://h/docs#token=", "plants browse": "http://127.0.0.1:"} {
		cmd := plantstore.Command(t, server.Dir, []string{"TERM=xterm"}, strings.Fields(command)...)
		line := terminal.Start(t, cmd).Await(t, prefix)
		url, shown, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(line, "\x1b]8;;"), "\x1b]8;;\x1b\\"), "\x1b\\")
		if url != shown || !strings.HasPrefix(url, prefix) {
			t.Errorf("%s prints %q", command, line)
		}
	}
}

// TestLinkOfSecretInMemory checks that the token of the link creates a plant, also of a server that
// cannot store its secret, and that the line in the log has what a person looks for.
func TestLinkOfSecretInMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "data"), nil, 0o600))
	session := terminal.Start(t, plantstore.Command(t, dir, []string{"ADDR=127.0.0.1:0"}, "serve", "--ephemeral"))
	base, token, _ := strings.Cut(session.Await(t, "/docs"), "/docs#token=")
	if r, err := plantstore.Post(t.Context(), plantstore.NewClient(t), base, token, `{"id":1,"name":"a"}`); err != nil || r.Status != 200 {
		t.Errorf("%+v, %v", r, err)
	}
	line := regexp.MustCompile(`\x1b\[[\d;]*m`).ReplaceAllString(session.Await(t, "POST /plants"), "")
	const want = `^[\d:]{8} 200 POST /plants  id 1  \(developer, [\d.]+ ms\)$`
	if !regexp.MustCompile(want).MatchString(line) {
		t.Errorf("the log has the line\n%s\nwant\n%s", line, want)
	}
}

// TestNoLinkInLog checks that the token is neither in a JSON log, even on a terminal, nor in the
// output to a file or a pipe.
func TestNoLinkInLog(t *testing.T) {
	t.Parallel()
	record := serve(t, t.TempDir(), "LOG_FORMAT=json").Await(t, `"msg":"ready"`)
	if !strings.Contains(record, `/docs"`) || link.MatchString(record) {
		t.Errorf("on a terminal the record is %s", record)
	}
	cmd := plantstore.Command(t, t.TempDir(), []string{"ADDR=127.0.0.1:0", "LOG_FORMAT=text"}, "serve")
	stderr := must.Get(cmd.StderrPipe())(t)
	must.Do(t, cmd.Start())
	var line string
	for lines := bufio.NewScanner(stderr); !strings.Contains(line, "/docs") && lines.Scan(); {
		line = lines.Text()
	}
	if !strings.HasSuffix(line, "/docs") {
		t.Errorf("in a pipe the page is %q", line)
	}
	_ = errors.Join(cmd.Process.Kill(), cmd.Wait()) // it was killed
}
