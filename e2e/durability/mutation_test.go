package durability

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
)

// A mutation takes one safety out of the program: in a file of its source, old
// becomes new.
type mutation struct {
	file, old, new string
}

// build builds the program with the mutation and returns its path.
func (m mutation) build(t *testing.T) string {
	t.Helper()
	source := filepath.Join(tools.Project(t), m.file)
	text, err := os.ReadFile(source)
	must(t, err)
	if n := strings.Count(string(text), m.old); n != 1 {
		t.Fatalf("%s has %q %d times, want once: this test must follow it", m.file, m.old, n)
	}
	dir := t.TempDir()
	mutant := filepath.Join(dir, "mutant.go")
	must(t, os.WriteFile(mutant, []byte(strings.Replace(string(text), m.old, m.new, 1)), 0o600))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {source: mutant}})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	binary := filepath.Join(dir, "plantstore")
	must(t, plantstore.Build(binary, "-overlay", filepath.Join(dir, "overlay.json")))
	return binary
}

// TestMutantsLosePlants takes the safeties out one by one. Each time the tests
// above must see it.
func TestMutantsLosePlants(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mutation mutation
		violate  func(t *testing.T, binary string) []string
	}{
		"no sync of files": {
			mutation{"storage/bbolt/open.go", "NoStatistics:    true,", "NoStatistics: true, NoSync: true,"},
			cutPower,
		},
		"no sync of folders": {
			mutation{"internal/durable/durable.go", `runtime.GOOS == "windows"`, `runtime.GOOS != ""`},
			cutPower,
		},
		"no stop after a fault": {
			mutation{"storage/bbolt/fault.go", "if s.mayHaveHappened(txid) {", "if false {"},
			failSyncs,
		},
		"no new meta pages": {
			mutation{"storage/bbolt/settle.go", "if err := settle(s.file, int(s.pageSize)); err != nil {", "if err := error(nil); err != nil {"},
			failSyncs,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			violations := tt.violate(t, tt.mutation.build(t))
			if len(violations) == 0 {
				t.Fatal("nobody noticed")
			}
			t.Logf("seen: %s", violations[0])
		})
	}
}

// cutPower is TestPowerLoss for a mutant.
func cutPower(t *testing.T, binary string) []string {
	t.Helper()
	tr := recordLife(t, binary, seed(t))
	tr.variants = 8
	return tr.run(t, newOpeners(t)).violations
}

// failSyncs is TestFailingSync for a mutant.
func failSyncs(t *testing.T, binary string) []string {
	t.Helper()
	f, idle := failingSync(), newOpeners(t)
	for n := 1; n <= f.creates; n++ {
		if o := failOnce(t, idle, binary, seed(t), f, n); len(o.violations) > 0 {
			return o.violations
		}
	}
	return nil
}
