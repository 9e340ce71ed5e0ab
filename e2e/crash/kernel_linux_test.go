package crash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
	"unsafe"
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
	for name, mkfs := range map[string][]string{
		"ext4": {"mkfs.ext4", "-q", "-F"},
		"xfs":  {"mkfs.xfs", "-q", "-f"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVolume(t, name, mkfs)
			s := newSite(t, v.dir)
			rounds := torture(10, 100)
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

// A volume is a file system in a file.
type volume struct {
	t       testing.TB
	image   string
	dir     string // where it is mounted
	mounted bool
}

// newVolume makes a file system and mounts it until the end of the test.
func newVolume(t testing.TB, name string, mkfs []string) *volume {
	t.Helper()
	program := requireMkfs(t, mkfs[0])
	v := &volume{t: t, image: filepath.Join(t.TempDir(), name), dir: t.TempDir()}
	must(t, os.WriteFile(v.image, nil, 0o600))
	must(t, os.Truncate(v.image, 320<<20)) // xfs takes none below 300 MiB
	v.run(append([]string{program}, append(mkfs[1:], v.image)...)...)
	if out, err := mount(t, v); err != nil {
		skip(t, fmt.Sprintf("a file cannot be mounted: %v: %s", err, out))
	}
	v.mounted = true
	t.Cleanup(v.unmount)
	return v
}

// requireMkfs returns the path of a program that makes file systems. Where they
// cannot be made and mounted, the test is skipped loudly.
func requireMkfs(t testing.TB, name string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		skip(t, "only root may mount a file system")
	}
	for _, path := range []string{name, "/usr/sbin/" + name, "/sbin/" + name} {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	skip(t, name+" is missing")
	return ""
}

func mount(t testing.TB, v *volume) ([]byte, error) {
	return exec.CommandContext(t.Context(), "mount", "-o", "loop", v.image, v.dir).CombinedOutput()
}

// mount mounts the volume, on a loop device that goes when it is unmounted.
func (v *volume) mount() {
	v.t.Helper()
	if out, err := mount(v.t, v); err != nil {
		v.t.Fatalf("mount: %v: %s", err, out)
	}
	v.mounted = true
}

// unmount unmounts the volume if it is mounted. A process that was killed just
// now may keep it busy for a moment.
func (v *volume) unmount() {
	v.t.Helper()
	if !v.mounted {
		return
	}
	v.mounted = false
	err := syscall.Unmount(v.dir, 0)
	for end := time.Now().Add(patience); err == syscall.EBUSY && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
		err = syscall.Unmount(v.dir, 0)
	}
	if err != nil {
		_ = syscall.Unmount(v.dir, syscall.MNT_DETACH) // it goes when nobody uses it
		v.t.Errorf("unmount: %v", err)
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

func (v *volume) run(args ...string) {
	v.t.Helper()
	if out, err := exec.CommandContext(v.t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
		v.t.Fatalf("%v: %v: %s", args, err, out)
	}
}
