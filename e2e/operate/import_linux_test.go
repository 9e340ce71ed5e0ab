package operate

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/internal/must"
)

// TestLargeImport checks that many plants can be imported in bounded memory, to the file
// and through a server, and that an export of them is the same byte for byte.
func TestLargeImport(t *testing.T) {
	t.Parallel()
	const plants = 250_000
	file := writePlants(t, plants)
	dir := t.TempDir()
	importPlants(t, dir, file)
	server := plantstore.Start(t, plantstore.Options{Dir: dir})
	const want = "0 plants imported, 250000 existed already, 0 skipped (id taken), 0 bad lines\n"
	if out := plantstore.Run(t, dir, "plants", "import", file); out != want {
		t.Errorf("imported again: %s", out)
	}
	plantstore.Run(t, dir, "plants", "export", "out.jsonl")
	server.Stop()
	all := must.Get(os.ReadFile(file))(t)
	if got, err := os.ReadFile(filepath.Join(dir, "out.jsonl")); err != nil || string(got) != string(all) {
		t.Errorf("the export has %d bytes, want the %d that were imported, %v", len(got), len(all), err)
	}
}

// importPlants imports a file and bounds the memory of the import. The file comes through a
// pipe, so that the process is still running after it has read everything: the peak that the
// system reports for an exited child includes the memory of the test process that started it.
func importPlants(t *testing.T, dir, file string) {
	t.Helper()
	const maxMemory = 100 << 20 // with mapped pages of the database
	plants := must.Get(os.Open(file))(t)
	defer func() { _ = plants.Close() }()
	cmd := plantstore.Command(t, dir, nil, "plants", "import", "-")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	stdin := must.Get(cmd.StdinPipe())(t)
	must.Do(t, cmd.Start())
	if _, err := io.Copy(stdin, plants); err != nil {
		t.Errorf("send the plants: %v", err)
	}
	used := process.Memory(t, cmd.Process.Pid, "VmHWM")
	if err := stdin.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("import: %v\n%s", err, out.Bytes())
	}
	t.Logf("the import took %v of processor time and %d MiB of memory",
		cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), used>>20)
	if used > maxMemory {
		t.Errorf("the import took %d bytes of memory, want at most %d", used, maxMemory)
	}
}

// writePlants writes a file with n plants, the ids from 0 on.
func writePlants(t testing.TB, n int) (path string) {
	t.Helper()
	var lines bytes.Buffer
	for id := range n {
		fmt.Fprintf(&lines, "{\"id\":%d,\"name\":\"Echeveria, number %d of the bulk\",\"tag\":\"succulent\"}\n", id, id)
	}
	path = filepath.Join(t.TempDir(), "plants.jsonl")
	must.Do(t, os.WriteFile(path, lines.Bytes(), 0o600))
	return path
}
