package faultfs_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/e2e/internal/faultfs"
	"plantstore/internal/must"
)

// kinds returns the kinds of the operations from n on.
func kinds(f *faultfs.FS, n int) []faultfs.Kind {
	var kinds []faultfs.Kind
	for _, op := range f.Log()[n:] {
		kinds = append(kinds, op.Kind)
	}
	return kinds
}

// TestLog checks the operations of the store and their order.
func TestLog(t *testing.T) {
	t.Parallel()
	f := faultfs.Mount(t)
	file := must.Get(os.Create(filepath.Join(f.Dir, "file")))(t)
	defer func() { _ = file.Close() }()
	before := f.Len()
	must.Do(t, file.Truncate(3*4096))
	must.Get(file.WriteAt(bytes.Repeat([]byte("x"), 8192), 4096))(t)
	must.Do(t, file.Sync())
	must.Do(t, syscall.Fdatasync(int(file.Fd())))
	dir := must.Get(os.Open(f.Dir))(t)
	must.Do(t, dir.Sync())
	must.Do(t, dir.Close())
	want := []faultfs.Kind{faultfs.Truncate, faultfs.Write, faultfs.Sync, faultfs.Sync, faultfs.SyncDir}
	if diff := cmp.Diff(want, kinds(f, before)); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	write := f.Log()[before+1]
	if write.Offset != 4096 || len(write.Data) != 8192 {
		t.Errorf("write of %d bytes at %d", len(write.Data), write.Offset)
	}
}

// failing returns a fault for the operations of the kind.
func failing(kind faultfs.Kind, errno syscall.Errno) faultfs.Fault {
	return func(op faultfs.Op) syscall.Errno {
		if op.Kind == kind {
			return errno
		}
		return 0
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	f := faultfs.Mount(t)
	path := filepath.Join(f.Dir, "file")
	file := must.Get(os.Create(path))(t)
	defer func() { _ = file.Close() }()
	for _, tt := range []struct {
		kind faultfs.Kind
		do   func() error
	}{
		{faultfs.Create, func() error { return os.Mkdir(filepath.Join(f.Dir, "dir"), 0o700) }},
		{faultfs.Link, func() error { return os.Link(path, path+"2") }},
		{faultfs.Unlink, func() error { return os.Remove(path) }},
		{faultfs.Write, func() error { _, err := file.WriteAt([]byte("lost"), 0); return err }},
		{faultfs.Truncate, func() error { return file.Truncate(1) }},
	} {
		before := f.Len()
		f.SetFault(failing(tt.kind, syscall.ENOSPC))
		if err := tt.do(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", tt.kind, err)
		}
		f.SetFault(nil)
		if got := kinds(f, before); len(got) > 0 {
			t.Errorf("after a failed %s the log has %v", tt.kind, got)
		}
	}
	if content, err := os.ReadFile(path); err != nil || len(content) > 0 {
		t.Errorf("after a failed write: %q, %v", content, err)
	}
}

// TestFailedSync checks the page cache after a failed sync: all processes see the new contents,
// the disk lacks them, and no later sync writes them.
func TestFailedSync(t *testing.T) {
	t.Parallel()
	f := faultfs.Mount(t)
	file := must.Get(os.Create(filepath.Join(f.Dir, "file")))(t)
	defer func() { _ = file.Close() }()
	syncDir(t, f.Dir)
	write := func(content string, offset int64) {
		must.Get(file.WriteAt([]byte(content), offset))(t)
	}
	write("old", 0)
	must.Do(t, file.Sync())
	write("new", 0)
	f.SetFault(failing(faultfs.Sync, syscall.EIO))
	if err := file.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("Sync: %v", err)
	}
	f.SetFault(nil)
	must.Do(t, file.Sync()) // this sync has no effect
	if content, err := os.ReadFile(file.Name()); string(content) != "new" || err != nil {
		t.Errorf("the page cache has %q, %v", content, err)
	}
	left := map[faultfs.Survival]string{}
	image := func(survival faultfs.Survival) string {
		replay := faultfs.NewReplay(f.Log())
		replay.To(f.Len())
		file, _ := replay.Image(survival, 1).Find("file")
		return string(file.Data())
	}
	for _, survival := range []faultfs.Survival{faultfs.None, faultfs.All} {
		left[survival] = image(survival)
	}
	if diff := cmp.Diff(map[faultfs.Survival]string{faultfs.None: "old", faultfs.All: "new"}, left); diff != "" {
		t.Errorf("after a failed and a good sync (-want +got):\n%s", diff)
	}
	write("!", 3) // makes the block dirty again, with all its contents
	must.Do(t, file.Sync())
	if got := image(faultfs.None); got != "new!" {
		t.Errorf("after another write and a sync the file has %q", got)
	}
}

func syncDir(t *testing.T, dir string) {
	t.Helper()
	d := must.Get(os.Open(dir))(t)
	must.Do(t, d.Sync())
	must.Do(t, d.Close())
}
