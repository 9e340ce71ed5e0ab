package operate

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/terminal"
	"plantstore/internal/must"
)

// TestCompletionInShells presses Tab in real shells. The script for bash needs a package that is
// not installed everywhere.
func TestCompletionInShells(t *testing.T) {
	t.Parallel()
	for shell, start := range map[string][]string{
		"zsh":  {"-f", "-i"},
		"fish": {"--no-config", "-i"},
	} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			program := plantstore.Command(t, dir, nil, "completion", shell)
			script := must.Get(program.Output())(t)
			must.Do(t, os.WriteFile(filepath.Join(dir, "script"), script, 0o600))
			setUp := "source ./script"
			if shell == "zsh" {
				setUp = "autoload -U compinit; compinit -u -D; " + setUp
			}
			cmd := exec.CommandContext(t.Context(), shell, start...) // .ci/tools installs the shells
			cmd.Dir = dir
			cmd.Env = []string{"HOME=" + dir, "TERM=dumb", "PS1=> ", "PATH=" + filepath.Dir(program.Path) + ":" + os.Getenv("PATH")}
			master := terminal.Start(t, cmd).Master
			// Only the output of echo has the complete word: just its first letters are typed.
			typeIn(t, master, setUp+"; echo rea''dy\n", "ready")
			typeIn(t, master, "plantstore plants im\t", "import")
			typeIn(t, master, "\x15plantstore conformance --unix-s\t", "--unix-socket")
		})
	}
}

// typeIn types text and reads the terminal until want has come.
func typeIn(t *testing.T, master *os.File, text, want string) {
	t.Helper()
	must.Do(t, master.SetDeadline(time.Now().Add(plantstore.Patience)))
	must.Get(io.WriteString(master, text))(t)
	var read strings.Builder
	chunk := make([]byte, 4096)
	for !strings.Contains(read.String(), want) {
		n, err := master.Read(chunk)
		read.Write(chunk[:n])
		if err != nil {
			t.Fatalf("typing %q shows %q, want %q: %v", text, read.String(), want, err)
		}
	}
}

// TestListOnTerminal checks that list prints the first hundred plants on a terminal, with the
// option to see more, and all plants in a pipe.
func TestListOnTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var plants strings.Builder
	for id := range 101 {
		fmt.Fprintf(&plants, "{\"id\":%d,\"name\":\"plant\"}\n", id)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "plants.jsonl"), []byte(plants.String()), 0o600))
	plantstore.Run(t, dir, "plants", "import", "plants.jsonl")
	if out := plantstore.Run(t, dir, "plants", "list"); out != plants.String() {
		t.Errorf("a pipe gets %d lines, want 101", strings.Count(out, "\n"))
	}
	list := plantstore.Command(t, dir, nil, "plants", "list")
	shown := terminal.Output(t, list)
	want := "plantstore: these are the first 100; continue with --after 99, or raise --limit\r\n"
	if rows := strings.Count(shown, " plant"); rows != 100 || !strings.HasSuffix(shown, want) || !list.ProcessState.Success() {
		t.Errorf("%v: a terminal shows %d plants and %q", list.ProcessState, rows, shown)
	}
}

// TestColorOfLog checks that the log on a terminal is in color, unless NO_COLOR is set.
func TestColorOfLog(t *testing.T) {
	t.Parallel()
	for environ, want := range map[string]string{
		"TERM=xterm": "\x1b[92mINF\x1b[0m shutting down",
		"NO_COLOR=1": "level=INFO",
	} {
		session := serve(t, t.TempDir(), environ)
		session.Await(t, "get a token")
		must.Get(session.Master.WriteString("\x03"))(t) // Ctrl-C
		session.Await(t, want)
		if err := <-session.Ended; err != nil {
			t.Errorf("with %s: %v", environ, err)
		}
	}
}
