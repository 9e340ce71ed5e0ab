package faultfs_test

import (
	"os/exec"
	"syscall"
	"testing"

	"plantstore/e2e/internal/faultfs"
	"plantstore/internal/testkit"
)

// TestUnmountThoughOthersSeeIt has a process with its own view of what is
// mounted, such as those of other tests and of containers. The end of a mount must
// not wait for that process.
func TestUnmountThoughOthersSeeIt(t *testing.T) { //nolint:paralleltest // the subtest must end first
	testkit.RequireRoot(t, "have such a view")
	other := exec.CommandContext(t.Context(), "sleep", "60")
	other.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	t.Run("mounted", func(t *testing.T) {
		faultfs.Mount(t)
		must(t, other.Start())
	})
	must(t, other.Process.Kill())
	if err := other.Wait(); err == nil { // it was not killed
		t.Error("the file system ended with the other process only")
	}
}
