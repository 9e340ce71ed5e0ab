package attack

import (
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
)

// A waiting is a command that waits forever. DIR in its arguments and environment is the working
// directory, in which FIFO is a FIFO without a writer; PEER is the address of a server that
// accepts connections and sends nothing.
type waiting struct {
	args  string
	env   []string
	files func(t *testing.T, dir string) // creates the files that the command needs
	full  bool                           // stdout and stderr are a pipe without a reader
}

// waitings returns commands that wait forever.
func waitings() map[string]waiting {
	const postgres, etcd = "postgres://PEER/plants", "etcd://PEER/plants"
	secret := []string{"JWT_SECRET=0123456789abcdef0123456789abcdef"}
	return map[string]waiting{
		"import of a FIFO":           {args: "plants import FIFO"},
		"dry run of a FIFO":          {args: "plants import --dry-run FIFO"},
		"import of stdin":            {args: "plants import -"},
		"seed of a FIFO":             {args: "serve --seed FIFO"},
		"ephemeral seed of a FIFO":   {args: "serve --ephemeral --seed FIFO", env: []string{"TMPDIR=DIR"}},
		"key on stdin":               {args: "token --key /dev/stdin"},
		"certificate in a FIFO":      {args: "serve --tls-cert-file FIFO --tls-key-file FIFO"},
		"authorities in a FIFO":      {args: "conformance --ca-file FIFO --url https://PEER --token x"},
		"silent server: conformance": {args: "conformance --url http://PEER --token x"},
		"silent issuer":              {args: "serve --jwt-jwks-url http://PEER/jwks"},
		"silent etcd: serve":         {args: "serve --storage-url " + etcd, env: secret},
		"silent etcd: list":          {args: "plants list --storage-url " + etcd},
		"silent PostgreSQL: serve":   {args: "serve --storage-url " + postgres, env: secret},
		"silent PostgreSQL: list":    {args: "plants list --storage-url " + postgres},
		"list to a full pipe":        {args: "plants list", files: manyPlants, full: true},
		"export to a full pipe":      {args: "plants export --format csv -", files: manyPlants, full: true},
	}
}

func manyPlants(t *testing.T, dir string) {
	t.Helper()
	cmd := plantstore.Command(t, dir, nil, "plants", "import", "--quiet", "-")
	var lines strings.Builder
	for id := range 5_000 {
		fmt.Fprintf(&lines, `{"id":%d,"name":"%0100d"}`+"\n", id, id)
	}
	cmd.Stdin = strings.NewReader(lines.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
}

// TestSignalEndsEveryWait checks that every command exits soon after SIGTERM or SIGINT, even
// while it waits.
func TestSignalEndsEveryWait(t *testing.T) {
	t.Parallel()
	peer := silentPeer(t)
	for i, name := range slices.Sorted(maps.Keys(waitings())) {
		signal := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}[i%2]
		t.Run(fmt.Sprint(name, " by ", signal), func(t *testing.T) {
			t.Parallel()
			waitings()[name].checkEnds(t, peer, signal)
		})
	}
}

// checkEnds starts the command, and signals it as soon as it waits. The time limit is far above
// the second that an idle machine needs.
func (w waiting) checkEnds(t *testing.T, peer string, signal syscall.Signal) {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "FIFO"), 0o600); err != nil {
		t.Fatal(err)
	}
	if w.files != nil {
		w.files(t, dir)
	}
	stdin, _ := pipe(t)
	replace := strings.NewReplacer("DIR", dir, "FIFO", filepath.Join(dir, "FIFO"), "PEER", peer).Replace
	env := []string{"ADDR=127.0.0.1:0"}
	for _, value := range w.env {
		env = append(env, replace(value))
	}
	cmd := plantstore.Command(t, dir, env, strings.Fields(replace(w.args))...)
	var stderr strings.Builder
	cmd.Stdin, cmd.Stderr = stdin, &stderr
	if w.full {
		_, full := pipe(t)
		cmd.Stdout, cmd.Stderr = full, full
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // if the test fails early
	awaitRest(t, cmd)
	if err := cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, cmd)
	if cmd.ProcessState.ExitCode() != 1 || !w.full && !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("the command exited with %v, stderr:\n%s", cmd.ProcessState, stderr.String())
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "plantstore-*")); left != nil { // the TMPDIR of some commands
		t.Errorf("the command left %v", left)
	}
}

// awaitRest waits until a process blocks.
func awaitRest(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	end := time.Now().Add(patience)
	for polls := 0; polls < restPolls; time.Sleep(10 * time.Millisecond) {
		if polls++; !atRest(t, cmd.Process.Pid) {
			polls = 0
		}
		if time.Now().After(end) {
			t.Fatal("the command never blocks")
		}
	}
}

// awaitEnd waits until the process has ended.
func awaitEnd(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // its exit code is checked
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		t.Fatalf("the command has not exited after %v", patience)
	}
}

// pipe returns a pipe that stays open until the test ends.
func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

// silentPeer returns the address of a server that accepts connections and sends nothing.
func silentPeer(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it ends with the test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String()
}

// restPolls is the number of consecutive polls that must find a process blocked.
const restPolls = 20

// atRest reports whether no thread of a process is running or waiting for a disk.
func atRest(t *testing.T, pid int) bool {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("the process exited early: %v", err)
	}
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		if err != nil { // it has just exited
			return false
		}
		_, rest, _ := strings.Cut(string(stat), ") ") // the name may contain any character
		switch rest[0] {
		case 'S':
		case 'Z':
			t.Fatal("the command exited early")
		default:
			return false
		}
	}
	return true
}
