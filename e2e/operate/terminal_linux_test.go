package operate

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plantstore/e2e/internal/plantstore"
)

// A server that was started by hand ends with its terminal, although SIGHUP asks
// others to reload.
func TestTerminalCloses(t *testing.T) {
	t.Parallel()
	master, terminal := openTerminal(t)
	cmd := plantstore.Command(t, t.TempDir(), []string{"ADDR=127.0.0.1:0"}, "serve")
	cmd.Stderr, cmd.Stdin = terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	_ = terminal.Close() // the server has it now
	lines := bufio.NewReader(master)
	awaitLine(t, lines, "get a token")
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	awaitLine(t, lines, "msg=reloaded")
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

// openTerminal opens a terminal, and the side on which a person would sit.
func openTerminal(t *testing.T) (master, terminal *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, terminal
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
