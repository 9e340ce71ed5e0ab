package engines

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"plantstore/e2e/internal/etcd"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/postgres"
	"plantstore/e2e/internal/process"
)

// A volume is an ext4 file system in a file. It needs root.
type volume struct {
	t          testing.TB
	image, dir string
}

func newVolume(t testing.TB, size int64) *volume {
	t.Helper()
	v := &volume{t: t, image: filepath.Join(t.TempDir(), "image"), dir: t.TempDir()}
	if err := os.WriteFile(v.image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(v.image, size); err != nil {
		t.Fatal(err)
	}
	process.Run(t, "/usr/sbin/mkfs.ext4", "-q", "-F", v.image)
	v.mount()
	t.Cleanup(v.unmount)
	return v
}

func (v *volume) mount() {
	v.t.Helper()
	process.Run(v.t, "mount", "-o", "loop", v.image, v.dir)
}

// unmount waits for processes that have just been killed to let go.
func (v *volume) unmount() {
	v.t.Helper()
	process.Eventually(v.t, "unmount", func(context.Context) error { return syscall.Unmount(v.dir, 0) })
}

// powerCut shuts the file system down such that what is not on the device yet
// never gets there: FS_IOC_SHUTDOWN without a flush of the journal.
func (v *volume) powerCut() {
	v.t.Helper()
	const goingDown, noLogFlush = 0x8004587D, 2
	root, err := os.Open(v.dir)
	if err != nil {
		v.t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	how := uint32(noLogFlush)
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, root.Fd(), goingDown, uintptr(unsafe.Pointer(&how))); errno != 0 { //nolint:gosec // the ioctl reads it
		v.t.Fatal(errno)
	}
}

// requireRoot skips the test where nothing can be mounted, and says so; with
// CI=true it fails.
func requireRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() == 0 {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("NOT CHECKED: only root may mount a file system")
	}
	t.Skip(t.Name() + " NOT CHECKED: only root may mount a file system")
}

// TestPowerCut cuts the power of all members, or of the server, at once, under load.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	requireRoot(t)
	t.Run("etcd", func(t *testing.T) {
		t.Parallel()
		v := newVolume(t, 2<<30) // each member allocates 64 MiB ahead
		cluster := etcd.Start(t, etcd.Options{Members: 3, Dir: v.dir})
		testPowerCut(t, v, "etcd://"+cluster.Hosts(), func() {
			for _, m := range cluster.Members {
				m.Kill()
			}
		}, func() {
			for _, m := range cluster.Members {
				cluster.Restart(m)
			}
			cluster.AwaitHealthy()
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		v := newVolume(t, 1<<30)
		server := postgres.Start(t, v.dir)
		process.Run(t, "sync") // of what initdb has made
		// Nothing it does now reaches the device, and its children end with it.
		kill := func() { server.Stop(postgres.Immediate) }
		testPowerCut(t, v, server.URL("plants", "postgres"), kill, server.Restart)
	})
}

func testPowerCut(t *testing.T, v *volume, url string, kill, restart func()) {
	t.Helper()
	s := newSite(t, url, 3)
	stop := s.load()
	for range plantstore.Torture(1, 5) {
		s.await(500)
		v.powerCut()
		kill()
		v.unmount()
		v.mount()
		restart()
		s.await(200)
	}
	stop()
	s.verify()
}
