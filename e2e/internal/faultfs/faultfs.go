// Package faultfs is a file system in memory that injects faults and simulates power failures. It
// is mounted with FUSE, so that the real program can run on it. It logs all operations in order.
// Replayed up to any point, the log gives the possible images after a power failure at that point.
//
// The page cache of the system works as usual, even for mapped files. Each write reaches the log at
// once. The system handles locks.
package faultfs

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"

	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// An FS is a mounted file system. The process that serves the FS must not map a file of it,
// which would be a deadlock.
type FS struct {
	// Dir is the mount point. The process that serves the FS must not start a process with this
	// working directory.
	Dir string

	mu       sync.Mutex
	log      []Op
	disk     *disk
	lastNode uint64
	fault    Fault
	modeless bool
}

// Mount mounts an empty file system until the end of the test. If that is not possible, the test
// is skipped, with a message on stderr; with CI=true it fails.
func Mount(t testing.TB) *FS {
	t.Helper()
	f := &FS{Dir: t.TempDir(), disk: newDisk(), lastNode: rootNode}
	server, err := fuse.NewServer(&raw{RawFileSystem: fuse.NewDefaultRawFileSystem(), fs: f}, f.Dir, &fuse.MountOptions{
		FsName: "faultfs", Name: "faultfs",
		DirectMountStrict:  true, // without the help of fusermount
		DisableReadDirPlus: true,
		DisableXAttrs:      true,
	})
	if err != nil {
		tools.NotChecked(t, fmt.Sprintf("mount a FUSE file system (needs root and /dev/fuse): %v", err))
	}
	go server.Serve()
	release := guard(t, f.Dir)
	t.Cleanup(func() {
		unmount(t, server, f.Dir)
		release()
	})
	must.Do(t, server.WaitMount())
	return f
}

// KeepNoModes makes all files accessible to everybody, as on file systems without permissions.
func (f *FS) KeepNoModes() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.modeless = true
}

// guard starts a process that unmounts dir when this process dies, for example by a time-out of
// the tests, which runs no cleanup. It exits when it is released.
func guard(t testing.TB, dir string) (release func()) {
	t.Helper()
	// It gets the read end of a pipe that has no other writer.
	cmd := exec.CommandContext(context.Background(), "sh", "-c", `read -r _; umount -l "$0" 2>/dev/null`, dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C does not reach it
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Errorf("%s stays mounted if this process dies: %v", dir, err)
		return func() {}
	}
	return func() {
		_ = stdin.Close()
		_ = cmd.Wait() // this fails if the directory is no longer mounted
	}
}

// unmount ends a mount, even if it is in use. A process with a mount namespace that was created
// meanwhile still has the mount; only force, which requires root, ends that, too.
func unmount(t testing.TB, server *fuse.Server, dir string) {
	t.Helper()
	if syscall.Unmount(dir, syscall.MNT_DETACH|syscall.MNT_FORCE) == nil {
		server.Wait()
		return
	}
	if err := server.Unmount(); err != nil {
		t.Errorf("unmount: %v", err)
	}
}

// Len returns the number of operations so far. If Len returned n after an event, the event
// precedes a power failure after the first n operations.
func (f *FS) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.log)
}

// Log returns the operations done so far.
func (f *FS) Log() []Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clip(f.log)
}

// SetFault calls fault for all operations from now on; with nil, all of them succeed.
func (f *FS) SetFault(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

// do does an operation unless the fault prevents it. The caller holds f.mu.
func (f *FS) do(op Op) fuse.Status {
	op.TakesSpace = f.disk.takesSpace(op)
	if f.fault != nil {
		named := op
		named.File = f.disk.nodes[op.Node].name
		if errno := f.fault(named); errno != 0 {
			if op.IsSync() {
				op.Failed = true
				f.record(op)
			}
			return fuse.ToStatus(errno)
		}
	}
	f.record(op)
	return fuse.OK
}

func (f *FS) record(op Op) {
	f.log = append(f.log, op)
	f.disk.apply(op)
}
