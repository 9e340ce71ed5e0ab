package bbolt

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"plantstore/internal/must"
	"plantstore/models"
	"plantstore/storage"
)

// TestSyncs checks which functions sync, in their order, while a store is created, used, and opened
// again. A create that lacks one of its syncs may be lost in a power failure (C5.26).
func TestSyncs(t *testing.T) {
	t.Parallel()
	const variable = "PLANTSTORE_TEST_SYNCS"
	if os.Getenv(variable) == "" { // the filter of the kernel stays until the process ends
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSyncs$", "-test.v")
		child.Env = append(os.Environ(), variable+"=1")
		output, err := child.CombinedOutput()
		if err != nil {
			t.Fatalf("%v:\n%s", err, output)
		}
		if bytes.Contains(output, []byte("SKIP")) {
			if os.Getenv("CI") == "true" {
				t.Fatalf("the syncs are not counted:\n%s", output)
			}
			t.Skipf("%s", output)
		}
		return
	}
	s := watchSyncs(t)
	path := filepath.Join(t.TempDir(), "new", "data", "plants.db")
	commit := []string{"(*Tx).write", "(*Tx).writeMeta"}
	var store *testStore
	open := func() { store = must.Get(openTest(storage.Options{}, path))(t) }
	create := func(id int64, size int) func() {
		return func() {
			must.Do(t, store.Create(t.Context(), id, models.Plant{Name: strings.Repeat("x", size)}))
		}
	}
	reopen := func() {
		must.Do(t, store.Close())
		s.take()
		open()
	}
	for _, step := range []struct {
		name string
		do   func()
		want [][]string
	}{
		{"a new store", open, [][]string{
			{"SyncDir new", "SyncDir " + filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(path))))}, // the directories
			{"(*DB).init", "(*DB).grow"}, commit, {"place", "SyncDir data"}, // the file
			{"resyncMeta", "(*Engine).extend"}, commit,
		}},
		{"a create", create(1, 10), [][]string{commit}},
		{"a create in a larger file", create(2, 100_000), [][]string{{"(*Engine).extend"}, commit}},
		{"a taken id", func() { _ = store.Create(t.Context(), 1, models.Plant{}) }, nil},
		{"an existing store", reopen, [][]string{{"SyncDir new", "SyncDir data", "resyncMeta"}, commit}},
		{"a create in it", create(3, 10), [][]string{commit}},
	} {
		s.take()
		step.do()
		must.Do(t, store.Ready())
		if diff := gocmp.Diff(slices.Concat(step.want...), s.take()); diff != "" {
			t.Errorf("%s: syncs by function (-want +got):\n%s", step.name, diff)
		}
	}
	if must.Do(t, store.Close()); !t.Failed() {
		os.Exit(0) // the goroutine that watches never ends
	}
}

// A syncs records the syncs of this process.
type syncs struct {
	mu    sync.Mutex
	calls []string // the function, for a directory with its name
}

// take returns the calls since the last take.
func (s *syncs) take() (calls []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls, s.calls = s.calls, nil
	return calls
}

// watchSyncs lets the kernel report each fsync and fdatasync of this process before it runs (seccomp
// user notification).
func watchSyncs(t *testing.T) *syncs {
	t.Helper()
	const load, equal, end = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	filter := []unix.SockFilter{
		{Code: load, K: 0}, // the number of the system call
		{Code: equal, K: unix.SYS_FSYNC, Jt: 2},
		{Code: equal, K: unix.SYS_FDATASYNC, Jt: 1},
		{Code: end, K: unix.SECCOMP_RET_ALLOW},
		{Code: end, K: unix.SECCOMP_RET_USER_NOTIF},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread() // which has no new privileges; TSYNC copies that to the others
	defer runtime.UnlockOSThread()
	must.Do(t, unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	const flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH
	listener, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		t.Skipf("this system reports no system calls: %v", errno)
	}
	s := new(syncs)
	go s.watch(listener)
	return s
}

// watch records each call, and lets it continue.
func (s *syncs) watch(listener uintptr) {
	for {
		var call struct { // struct seccomp_notif
			id         uint64
			pid, flags uint32
			number     int32
			arch       uint32
			pointer    uint64
			arguments  [6]uint64
		}
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, listener, unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&call))); errno != 0 {
			continue // interrupted
		}
		name := syncingFunction()
		if path, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", call.arguments[0])); name == "SyncDir" {
			name += " " + filepath.Base(path)
		}
		s.mu.Lock()
		s.calls = append(s.calls, name)
		s.mu.Unlock()
		response := struct { // struct seccomp_notif_resp
			id    uint64
			value int64
			error int32
			flags uint32
		}{id: call.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, listener, unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&response)))
	}
}

// syncingFunction returns the function of bbolt or of this program that has called fsync or fdatasync.
func syncingFunction() string {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for stack := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		if !bytes.Contains(stack, []byte("\nsyscall.Fsync(")) && !bytes.Contains(stack, []byte("\nsyscall.Fdatasync(")) {
			continue
		}
		for lines := bufio.NewScanner(bytes.NewReader(stack)); lines.Scan(); {
			call := lines.Text()
			_, function, ours := strings.Cut(call[strings.LastIndexByte(call, '/')+1:], ".")
			function = function[:max(0, strings.LastIndexByte(function, '('))]
			if ours && function != "fdatasync" && (strings.HasPrefix(call, "plantstore/") || strings.HasPrefix(call, "go.etcd.io/bbolt.")) {
				return function
			}
		}
	}
	return "unknown"
}

// TestGrowWithoutHoles checks that the disk has blocks for all that bbolt may use, also in a file
// whose end was never written, as those of earlier versions.
func TestGrowWithoutHoles(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	for round := range int64(4) {
		s := mustOpen(t, path)
		before := s.db.MaxSize
		createPlants(t, s, 2000*round, 2000, 50)
		allocated := int64(s.db.MaxSize) - s.pageSize
		if hole := firstHole(t, s.file); s.db.MaxSize == before || hole < allocated {
			t.Errorf("the first hole begins at %d, bbolt may use %d bytes, at first %d", hole, allocated, before)
		}
		must.Do(t, s.Close())
		m, _ := newestMeta(bytes.NewReader(snapshot(t, path)))
		used := int64(m.Pages) * int64(m.PageSize)
		if used > allocated {
			t.Errorf("bbolt uses %d bytes of %d", used, allocated)
		}
		for _, size := range []int64{used, used + 1<<20} { // the last MiB is a hole
			must.Do(t, os.Truncate(path, size))
		}
	}
}

// firstHole returns the offset of the first hole of the file, or of its end.
func firstHole(t *testing.T, file *os.File) int64 {
	t.Helper()
	hole := must.Get(unix.Seek(int(file.Fd()), 0, unix.SEEK_HOLE))(t)
	return hole
}
