package attack

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// TestSignalEndsSilentPeer checks that SIGTERM and SIGINT end a command that waits for a server that
// accepts connections and sends nothing.
func TestSignalEndsSilentPeer(t *testing.T) {
	t.Parallel()
	peer := silentPeer(t)
	for i, args := range []string{
		"conformance --url http://PEER --token x",
		"serve --jwt-jwks-url http://PEER/jwks",
	} {
		signal := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}[i%2]
		t.Run(fmt.Sprint(args, " by ", signal), func(t *testing.T) {
			t.Parallel()
			checkEnds(t, strings.ReplaceAll(args, "PEER", peer), signal)
		})
	}
}

// checkEnds starts a command, and signals it as soon as it waits.
func checkEnds(t *testing.T, args string, signal syscall.Signal) {
	t.Helper()
	cmd := plantstore.Command(t, t.TempDir(), []string{"ADDR=127.0.0.1:0", "JWT_SECRET=0123456789abcdef0123456789abcdef"}, strings.Fields(args)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // if the test fails early
	awaitRest(t, cmd)
	must.Do(t, cmd.Process.Signal(signal))
	awaitEnd(t, cmd)
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("the command exited with %v, stderr:\n%s", cmd.ProcessState, stderr.String())
	}
}

// awaitRest waits until a process blocks.
func awaitRest(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	polls := 0
	plantstore.Await(t, "the command blocks", func() bool {
		if polls++; !atRest(t, cmd.Process.Pid) {
			polls = 0
		}
		time.Sleep(10 * time.Millisecond)
		return polls == restPolls
	})
}

// awaitEnd waits until the process has ended.
func awaitEnd(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	defer time.AfterFunc(patience, func() {
		t.Errorf("the command has not exited after %v", patience)
		_ = cmd.Process.Kill()
	}).Stop()
	_ = cmd.Wait() // its exit code is checked
}

// silentPeer returns the address of a server that accepts connections and sends nothing.
func silentPeer(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it ends with the test
	must.Do(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String()
}

// restPolls is the number of consecutive polls that must find a process blocked.
const restPolls = 20

// atRest reports whether no thread of a process is running or waiting for a disk.
func atRest(t *testing.T, pid int) bool {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("the process exited early: %v", err)
	}
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		if err != nil { // it has just exited
			return false
		}
		_, rest, _ := strings.Cut(string(stat), ") ") // the name may contain any character
		switch rest[0] {
		case 'S':
		case 'Z':
			t.Fatal("the command exited early")
		default:
			return false
		}
	}
	return true
}
