//go:build unix

package operate

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

// maxMemory bounds the memory of an import of a million plants, in bytes, including mapped
// pages of the database.
const maxMemory = 200 << 20

// TestMillionPlants checks that a million plants go in within bounded memory, on the file and
// through a server, and come out again byte for byte.
func TestMillionPlants(t *testing.T) {
	t.Parallel()
	const plants = 1_000_000
	file := writePlants(t, plants)
	dir := t.TempDir()
	cmd := plantstore.Command(t, dir, nil, "plants", "import", file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("import: %v\n%s", err, out)
	}
	used := maxRSS(t, cmd.ProcessState)
	t.Logf("the import took %v of processor time and %d MiB of memory",
		cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), used>>20)
	if used > maxMemory {
		t.Errorf("the import took %d bytes of memory, want at most %d", used, maxMemory)
	}
	server := plantstore.Start(t, plantstore.Options{Dir: dir})
	if out := run(t, dir, "plants", "import", file); out != "0 plants imported, 1000000 were there already, 0 skipped for their ids, 0 bad lines\n" {
		t.Errorf("imported again: %s", out)
	}
	run(t, dir, "plants", "export", "out.jsonl")
	server.Stop()
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "out.jsonl")); err != nil || string(got) != string(want) {
		t.Errorf("the export has %d bytes, want the %d that were imported, %v", len(got), len(want), err)
	}
}

// maxRSS returns the most memory that a process had, in bytes.
func maxRSS(t *testing.T, state *os.ProcessState) int64 {
	t.Helper()
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("this system does not report the peak memory of a process")
	}
	if runtime.GOOS == "darwin" { // which counts in bytes
		return usage.Maxrss
	}
	return usage.Maxrss << 10
}
