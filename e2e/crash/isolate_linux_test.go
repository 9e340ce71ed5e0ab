package crash

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// isolatedEnv marks the process that [runIsolated] has started.
const isolatedEnv = "CRASH_ISOLATED"

// runIsolated runs the tests in a process with its own mount namespace, if this process may
// create one. Mounts and loop devices vanish with that process, however it exits.
func runIsolated() (code int, done bool) {
	if os.Geteuid() != 0 || os.Getenv(isolatedEnv) != "" {
		return 0, false
	}
	runtime.LockOSThread() // the process is killed when this thread exits
	tests := exec.CommandContext(context.Background(), "/proc/self/exe", os.Args[1:]...)
	tests.Env = append(os.Environ(), isolatedEnv+"=1")
	tests.Stdout, tests.Stderr = os.Stdout, os.Stderr
	tests.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if err := tests.Start(); err != nil {
		return 0, false // so only the tests unmount the file systems
	}
	var exit *exec.ExitError
	if err := tests.Wait(); err != nil && !errors.As(err, &exit) {
		return 1, true
	}
	return max(tests.ProcessState.ExitCode(), -tests.ProcessState.ExitCode()), true
}
