// Package volume creates file systems that the end-to-end tests can fill, break and shut down.
// It requires root.
package volume

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// patience bounds every wait; it is far above the usual duration.
const patience = time.Minute

// The ways to shut a file system down, by FS_IOC_SHUTDOWN of ext4 and XFS_IOC_GOINGDOWN of xfs,
// which have the same number.
const (
	goingDown = 0x8004587D

	LogFlush   = 1 // the journal is written out first
	NoLogFlush = 2 // like a power failure or a crash of the kernel
)

// A Volume is a file system in a file.
type Volume struct {
	Dir string // mount point

	t       testing.TB
	image   string
	mounted bool
}

// Ext4 is the command that creates an ext4, for [New]. No blocks are reserved for root, and it
// becomes read-only when the kernel finds corruption.
func Ext4() []string { return []string{"mkfs.ext4", "-q", "-F", "-m", "0", "-e", "remount-ro"} }

// New creates a file system of so many bytes with the command mkfs and mounts it until the end
// of the test. If that is not possible, the test is skipped; with CI=true it fails.
func New(t testing.TB, size int64, mkfs ...string) *Volume {
	t.Helper()
	tools.RequireRoot(t, "mount a file system")
	program := tools.Require(t, mkfs[0], filepath.Join("/usr/sbin", mkfs[0])) // which may be on the PATH of root only
	v := &Volume{t: t, image: filepath.Join(t.TempDir(), "image"), Dir: t.TempDir()}
	must.Do(t, os.WriteFile(v.image, nil, 0o600))
	must.Do(t, os.Truncate(v.image, size))
	if out, err := exec.CommandContext(t.Context(), program, append(mkfs[1:], v.image)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", mkfs, err, out)
	}
	if err := v.mount(); err != nil {
		tools.NotChecked(t, err.Error())
	}
	t.Cleanup(v.Unmount)
	return v
}

// Mount mounts the volume again with these options, on a loop device that is removed when it is
// unmounted.
func (v *Volume) Mount(options ...string) {
	v.t.Helper()
	must.Do(v.t, v.mount(options...))
}

func (v *Volume) mount(options ...string) error {
	args := []string{"-o", "loop"}
	for _, option := range options {
		args = append(args, "-o", option)
	}
	if out, err := exec.CommandContext(v.t.Context(), "mount", append(args, v.image, v.Dir)...).CombinedOutput(); err != nil {
		return fmt.Errorf("a file cannot be mounted: %w: %s", err, out)
	}
	v.mounted = true
	return nil
}

// Unmount unmounts the volume if it is mounted. A process that was just killed may keep it busy
// for a moment.
func (v *Volume) Unmount() {
	v.t.Helper()
	if !v.mounted {
		return
	}
	v.mounted = false
	err := syscall.Unmount(v.Dir, 0)
	for end := time.Now().Add(patience); err == syscall.EBUSY && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
		err = syscall.Unmount(v.Dir, 0)
	}
	if err != nil {
		_ = syscall.Unmount(v.Dir, syscall.MNT_DETACH) // removed as soon as it is unused
		v.t.Errorf("unmount: %v", err)
	}
}

// ShutDown shuts the file system down: later writes never reach the device. how is LogFlush or NoLogFlush.
func (v *Volume) ShutDown(how uint32) {
	v.t.Helper()
	root := must.Get(os.Open(v.Dir))(v.t)
	defer func() { _ = root.Close() }()
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, root.Fd(), goingDown, uintptr(unsafe.Pointer(&how))); errno != 0 {
		v.t.Errorf("shut the file system down: %v", errno)
	}
}

// MakeReadOnly marks the file system, an ext4, as corrupt.
func (v *Volume) MakeReadOnly() {
	v.t.Helper()
	var stat syscall.Stat_t
	must.Do(v.t, syscall.Stat(v.Dir, &stat))
	minor := stat.Dev&0xff | stat.Dev>>12&^0xff // of the loop device
	device := must.Get(os.Readlink(fmt.Sprintf("/sys/dev/block/7:%d", minor)))(v.t)
	must.Do(v.t, os.WriteFile(filepath.Join("/sys/fs/ext4", filepath.Base(device), "trigger_fs_error"), []byte("a test"), 0))
}
