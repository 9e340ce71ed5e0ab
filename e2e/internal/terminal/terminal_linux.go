// Package terminal opens terminals for the programs under test.
package terminal

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"plantstore/internal/must"
)

// Open opens a terminal, and its master, the side that a person would use. The caller closes the
// terminal; master is closed at the end of the test at the latest.
func Open(t testing.TB) (master, terminal *os.File) {
	t.Helper()
	fd := must.Get(unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0))(t) // for deadlines
	master = os.NewFile(uintptr(fd), "/dev/ptmx")
	t.Cleanup(func() { _ = master.Close() }) // it may be closed already
	number := must.Get(unix.IoctlGetInt(fd, unix.TIOCGPTN))(t)
	must.Do(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	terminal = must.Get(os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	return master, terminal
}
