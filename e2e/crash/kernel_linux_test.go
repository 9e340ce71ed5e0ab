package crash

import (
	"os"
	"syscall"
	"testing"
	"unsafe"

	"plantstore/e2e/internal/plantstore"
)

// The ioctl that shuts a file system down as a crash of the kernel does: what is
// not on the device yet never gets there. It is FS_IOC_SHUTDOWN of ext4 and
// XFS_IOC_GOINGDOWN of xfs.
const (
	goingDown  = 0x8004587D
	logFlush   = 1 // the journal is written out first
	noLogFlush = 2
)

// TestKernelCrash shuts the file system down under a server under load, and
// mounts it again: every plant that was acknowledged must be there (C5.26).
func TestKernelCrash(t *testing.T) {
	t.Parallel()
	for name, mkfs := range map[string][]string{"ext4": mkfsExt4(), "xfs": {"mkfs.xfs", "-q", "-f"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVolume(t, 320<<20, mkfs...) // xfs takes none below 300 MiB
			s := newSite(t, v.dir)
			rounds := plantstore.Torture(10, 100)
			for range rounds {
				from := len(s.acknowledged)
				s.interrupt(func() { v.crash(logFlush + s.random.IntN(noLogFlush)) })
				s.server.Kill()
				v.unmount()
				v.mount()
				s.restart()
				s.verify(from)
				s.check()
				if t.Failed() {
					return // the first loss tells most
				}
				s.restart()
			}
			s.verify(0)
			t.Logf("%d crashes, %d plants were acknowledged", rounds, len(s.acknowledged))
		})
	}
}

// crash shuts the file system down.
func (v *volume) crash(how int) {
	v.t.Helper()
	root, err := os.Open(v.dir)
	must(v.t, err)
	defer func() { _ = root.Close() }()
	flags := uint32(how)                                                                                                      //nolint:gosec // 1 or 2
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, root.Fd(), goingDown, uintptr(unsafe.Pointer(&flags))); errno != 0 { //nolint:gosec // the ioctl reads it
		v.t.Errorf("shut the file system down: %v", errno)
	}
}
