package operate

import (
	"bufio"
	"strings"
	"syscall"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/terminal"
)

// A server that was started by hand ends with its terminal, although SIGHUP asks
// others to reload.
func TestTerminalCloses(t *testing.T) {
	t.Parallel()
	master, tty := terminal.Open(t)
	cmd := plantstore.Command(t, t.TempDir(), []string{"ADDR=127.0.0.1:0"}, "serve")
	cmd.Stderr, cmd.Stdin = tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	_ = tty.Close() // the server has it now
	lines := bufio.NewReader(master)
	awaitLine(t, lines, "get a token")
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	awaitLine(t, lines, "reloaded")
	if err := master.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("it ends with %v", err)
		}
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		t.Errorf("it is still there without its terminal; killed: %v", <-ended)
	}
}

// awaitLine reads until a line with that text has come.
func awaitLine(t *testing.T, lines *bufio.Reader, text string) {
	t.Helper()
	for line := ""; !strings.Contains(line, text); {
		var err error
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatalf("waiting for %q: %v", text, err)
		}
	}
}
