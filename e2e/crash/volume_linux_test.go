package crash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A volume is a file system in a file.
type volume struct {
	t       testing.TB
	image   string
	dir     string // where it is mounted
	mounted bool
}

// mkfsExt4 is the command that makes an ext4, for newVolume. All of it is for
// everybody, and it becomes read-only when the kernel finds it damaged.
func mkfsExt4() []string { return []string{"mkfs.ext4", "-q", "-F", "-m", "0", "-e", "remount-ro"} }

// newVolume makes a file system of so many bytes with the command mkfs and mounts
// it until the end of the test.
func newVolume(t testing.TB, size int64, mkfs ...string) *volume {
	t.Helper()
	program := requireMkfs(t, mkfs[0])
	v := &volume{t: t, image: filepath.Join(t.TempDir(), "image"), dir: t.TempDir()}
	must(t, os.WriteFile(v.image, nil, 0o600))
	must(t, os.Truncate(v.image, size))
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

func (v *volume) run(args ...string) {
	v.t.Helper()
	if out, err := exec.CommandContext(v.t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
		v.t.Fatalf("%v: %v: %s", args, err, out)
	}
}
