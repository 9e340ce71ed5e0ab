package durability

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// A mutation removes one safeguard from the program: in a source file, old is replaced by new.
type mutation struct {
	file, old, new string
}

// build builds the program with the mutation and returns its path.
func (m mutation) build(t *testing.T) string {
	t.Helper()
	source := filepath.Join(tools.Project(t), m.file)
	text := must.Get(os.ReadFile(source))(t)
	if n := strings.Count(string(text), m.old); n != 1 {
		t.Fatalf("%s has %q %d times, want once: this test must follow it", m.file, m.old, n)
	}
	dir := t.TempDir()
	mutant := filepath.Join(dir, "mutant.go")
	must.Do(t, os.WriteFile(mutant, []byte(strings.Replace(string(text), m.old, m.new, 1)), 0o600))
	overlay := must.Get(json.Marshal(map[string]map[string]string{"Replace": {source: mutant}}))(t)
	path, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "plantstore")
	must.Do(t, os.WriteFile(path, overlay, 0o600))
	must.Do(t, plantstore.Build(binary, "-overlay", path))
	return binary
}

// TestMutants removes the safeguards one by one. Each time a test above must detect it.
func TestMutants(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mutation mutation
		violate  func(t *testing.T, binary string) []string
	}{
		"no sync of the database": {
			mutation{"storage/bbolt/open.go", "NoStatistics: true,", "NoStatistics: true, NoSync: true,"}, cutPower,
		},
		"no sync of directories": {
			mutation{"internal/files/directory.go", `runtime.GOOS == "windows"`, `runtime.GOOS != ""`}, cutPower,
		},
		"no growing of the file": {
			mutation{"storage/bbolt/grow.go", "	e.db.AllocSize = 0 ", "	if e.db != nil {\n		return\n	}\n	e.db.AllocSize = 0 "}, cutPower,
		},
		"no stop after a failed sync": {
			mutation{"storage/bbolt/commit.go", "	e.failStop.Stop(cause)\n	if unknown {", "	if unknown {"}, failSyncs,
		},
		"a failed sync of a meta page is reported as not stored": {
			mutation{"storage/bbolt/commit.go", "unknown := txid > 0 && e.mayHaveHappened(txid)", "unknown := false && e.mayHaveHappened(txid)"}, failSyncs,
		},
		"no new meta pages": {
			mutation{"storage/bbolt/open.go", "if err := resyncMeta(e.file, e.pageSize); err != nil {", "if err := error(nil); err != nil {"}, failSyncs,
		},
		"an outcome is sent before the commit": {
			mutation{
				"storage/commit.go", "	err := s.guard(func() error { return s.engine.Commit(items) })",
				`	all := slices.Clone(items)
	err := s.guard(func() error { go func() { s.mu.Lock(); defer s.mu.Unlock(); _ = s.engine.Commit(all) }(); return nil })`,
			},
			cutPower,
		},
		"a commit stores only the create that started it": {
			mutation{"storage/commit.go", "for _, r := range batch {\n		for i := range r.items {", "for _, r := range batch[:min(1, len(batch))] {\n		for i := range r.items {"},
			cutPower,
		},
		"a create that a commit has is reported as not stored": {
			mutation{"storage/queue.go", `fmt.Errorf("%w: %w", ErrUnknown, cause)`, `fmt.Errorf("%w: %w", ErrOverloaded, cause)`}, timeOut,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			violations := tt.violate(t, tt.mutation.build(t))
			if len(violations) == 0 {
				t.Fatal("not detected")
			}
			t.Logf("seen: %s", violations[0])
		})
	}
}

// cutPower is [TestPowerLoss] for a mutant.
func cutPower(t *testing.T, binary string) []string {
	t.Helper()
	return recordLife(t, binary, plantstore.Seed(t), 8).run(t, newOpeners(t)).violations
}

// failSyncs is [TestFailingSync] for a mutant.
func failSyncs(t *testing.T, binary string) []string {
	t.Helper()
	f, idle := failingSync(), newOpeners(t)
	f.binary = binary
	for s := range uint64(6) { // of the cuts and of what survives them
		for n := 2 * f.creates; n > 0; n-- { // a commit has two; a start has fewer
			if a := f.testAt(t, idle, plantstore.Seed(t)+s, n); len(a.violations) > 0 {
				return a.violations
			}
		}
	}
	return nil
}
