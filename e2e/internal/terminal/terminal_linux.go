// Package terminal opens terminals for the programs under test.
package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"plantstore/internal/must"
)

// open opens a terminal, and its master, the side that a person would use. The caller closes the
// terminal; master is closed at the end of the test at the latest.
func open(t testing.TB) (master, terminal *os.File) {
	t.Helper()
	fd := must.Get(unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0))(t) // for deadlines
	master = os.NewFile(uintptr(fd), "/dev/ptmx")
	t.Cleanup(func() { _ = master.Close() }) // it may be closed already
	number := must.Get(unix.IoctlGetInt(fd, unix.TIOCGPTN))(t)
	must.Do(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	terminal = must.Get(os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	return master, terminal
}

// Output runs a command with one terminal as its stdin, stdout and stderr, and returns what it shows. The exit code
// is in the command.
func Output(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	master, tty := open(t)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	must.Do(t, cmd.Start())
	_ = tty.Close()
	text, err := io.ReadAll(master)
	if !errors.Is(err, syscall.EIO) { // the other side is closed
		t.Fatal(err)
	}
	_ = cmd.Wait() // some commands are expected to fail
	return string(text)
}

// A Session is a program that runs on its own terminal, as if started by a person.
type Session struct {
	// Master is the side of the terminal that a person would use.
	Master *os.File
	// Ended receives the exit status of the program.
	Ended <-chan error

	lines *bufio.Reader
}

// Start starts a program with a terminal as its stdin and stderr, and as its stdout unless
// that is set. The program is killed at the end of the test at the latest.
func Start(t testing.TB, cmd *exec.Cmd) *Session {
	t.Helper()
	master, tty := open(t)
	cmd.Stderr, cmd.Stdin = tty, tty
	if cmd.Stdout == nil {
		cmd.Stdout = tty
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must.Do(t, cmd.Start())
	_ = tty.Close() // the program has its own descriptor now
	ended, done := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(done)
		ended <- cmd.Wait()
	}()
	t.Cleanup(func() {
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Error(err)
		}
		<-done
	})
	return &Session{Master: master, Ended: ended, lines: bufio.NewReader(master)}
}

// Await reads the output of the program up to a line with that text, and returns the line.
func (s *Session) Await(t testing.TB, text string) string {
	t.Helper()
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			t.Fatalf("waiting for %q: %v", text, err)
		}
		if strings.Contains(line, text) {
			return strings.TrimSpace(line)
		}
	}
}
