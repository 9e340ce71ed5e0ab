// Package overload tests a server under too much load: more requests than its disk can store in
// time, more connections than it allows, clients that are slow on purpose, huge bodies, and a
// shutdown during all of that.
package overload

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
)

// patience bounds every wait; it is far above the usual duration.
const patience = 4 * plantstore.Patience

func TestMain(m *testing.M) {
	const files = 12_000 // that a test and its server may open; only root may raise the limit
	limit := syscall.Rlimit{Cur: files, Max: files}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil { // set explicitly, servers inherit it
		fmt.Fprintln(os.Stderr, "the limit of open files:", err)
		os.Exit(1)
	}
	os.Exit(plantstore.Main(m))
}

// memory returns a figure of the memory of a process, VmRSS or VmHWM, in bytes, without the
// pages of files, which the system can reclaim.
func memory(t testing.TB, server *plantstore.Server, figure string) int64 {
	t.Helper()
	return process.Memory(t, server.PID(), figure) - process.Memory(t, server.PID(), "RssFile")
}

// wantMemory checks a figure of the memory of the server against a bound in
// bytes.
func wantMemory(t testing.TB, server *plantstore.Server, figure string, most int64) {
	t.Helper()
	got := memory(t, server, figure)
	t.Logf("%s is %d MB, the bound is %d MB", figure, got/1e6, most/1e6)
	if got > most {
		t.Errorf("%s is %d bytes, want at most %d", figure, got, most)
	}
}

// memoryBound returns the maximum memory in bytes, as in docs/secure.md, of a server
// with so many connections and bodies of up to 1 MiB.
func memoryBound(connections int64) int64 { return 552<<20 + connections*100<<10 }

// goLimit returns the setting of Go's memory limit for that bound, three quarters of it.
func goLimit(connections int64) string {
	return fmt.Sprint("GOMEMLIMIT=", memoryBound(connections)/4*3)
}
