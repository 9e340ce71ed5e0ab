package faultfs_test

import (
	"os/exec"
	"syscall"
	"testing"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/tools"
)

// TestUnmountThoughOthersSeeIt checks that unmounting does not wait for a process with its own
// mount namespace, as containers and other tests have.
func TestUnmountThoughOthersSeeIt(t *testing.T) { //nolint:paralleltest // the subtest must end first
	tools.RequireRoot(t, "have such a view")
	other := exec.CommandContext(t.Context(), "sleep", "60")
	other.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	t.Run("mounted", func(t *testing.T) {
		faultfs.Mount(t)
		must(t, other.Start())
	})
	must(t, other.Process.Kill())
	if err := other.Wait(); err == nil { // it was not killed
		t.Error("the unmount waited for the other process")
	}
}
