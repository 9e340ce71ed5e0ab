package durability

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// A mutation removes one safeguard from the program: in a source file, old is replaced by new, in which MUTANT is true in
// the program with the name of the mutation.
type mutation struct {
	file, old, new string
	violate        func(t *testing.T, binary string) []string
}

func mutations() map[string]mutation {
	return map[string]mutation{
		"no sync of the database": {"storage/bbolt/open.go", "NoStatistics: true,", "NoStatistics: true, NoSync: MUTANT,", cutPower},
		"no sync of directories":  {"internal/files/directory.go", `runtime.GOOS == "windows"`, `runtime.GOOS == "windows" || MUTANT`, cutPower},
		"no growing of the file": {
			"storage/bbolt/grow.go", "	e.db.AllocSize = 0 ", "	if MUTANT {\n		return\n	}\n	e.db.AllocSize = 0 ", cutPower,
		},
		"no stop after a failed sync": {
			"storage/bbolt/commit.go", "	e.failStop.Stop(cause)\n	if unknown {", "	if !MUTANT {\n		e.failStop.Stop(cause)\n	}\n	if unknown {", failSyncs,
		},
		"a failed sync of a meta page is reported as not stored": {
			"storage/bbolt/commit.go", "unknown := txid > 0 && e.mayHaveHappened(txid)", "unknown := !MUTANT && txid > 0 && e.mayHaveHappened(txid)", failSyncs,
		},
		"no new meta pages": {
			"storage/bbolt/open.go", "if err := resyncMeta(e.file, e.pageSize); err != nil {",
			"if MUTANT {\n	} else if err := resyncMeta(e.file, e.pageSize); err != nil {", failSyncs,
		},
		"an outcome is sent before the commit": {
			"storage/commit.go", "	err := s.guard(func() error { return s.engine.Commit(items) })", `	all := slices.Clone(items)
	err := s.guard(func() error {
		if !MUTANT {
			return s.engine.Commit(items)
		}
		go func() { s.mu.Lock(); defer s.mu.Unlock(); _ = s.engine.Commit(all) }()
		return nil
	})`, cutPower,
		},
		"a commit stores only the create that started it": {
			"storage/commit.go", "for _, r := range batch {\n		for i := range r.items {",
			"for n, r := range batch {\n		if n > 0 && MUTANT {\n			break\n		}\n		for i := range r.items {", cutPower,
		},
		"a create that a commit has is reported as not stored": {
			"storage/queue.go", `fmt.Errorf("%w: %w", ErrUnknown, cause)`,
			`fmt.Errorf("%w: %w", map[bool]error{true: ErrOverloaded, false: ErrUnknown}[MUTANT], cause)`, timeOut,
		},
	}
}

// buildMutants builds the program with all mutations, each of which depends on the program's name, and returns its path.
func buildMutants(t *testing.T) string {
	t.Helper()
	files := map[string]string{}
	for _, dir := range []string{"storage", "internal/files"} {
		files[dir+"/mutant.go"] = "package " + path.Base(dir) + `
import ("os"; "path/filepath")
func Mutant(name string) bool { return filepath.Base(os.Args[0]) == name }`
	}
	for name, m := range mutations() {
		if files[m.file] == "" {
			files[m.file] = string(tools.ProjectFile(t, m.file))
		}
		if n := strings.Count(files[m.file], m.old); n != 1 {
			t.Fatalf("%s has %q %d times, want once: this test must follow it", m.file, m.old, n)
		}
		call := map[string]string{"storage/bbolt": "storage."}[path.Dir(m.file)] + fmt.Sprintf("Mutant(%q)", name)
		files[m.file] = strings.Replace(files[m.file], m.old, strings.ReplaceAll(m.new, "MUTANT", call), 1)
	}
	dir, replaced := t.TempDir(), map[string]string{}
	for name, text := range files {
		source := filepath.Join(tools.Project(t), filepath.FromSlash(name))
		replaced[source] = filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))
		must.Do(t, os.WriteFile(replaced[source], []byte(text), 0o600))
	}
	overlay, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "plantstore")
	must.Do(t, os.WriteFile(overlay, must.Get(json.Marshal(map[string]any{"Replace": replaced}))(t), 0o600))
	must.Do(t, plantstore.Build(binary, "-overlay", overlay))
	return binary
}

// TestMutants removes the safeguards one by one. Each time a test above must detect it.
func TestMutants(t *testing.T) {
	t.Parallel()
	binary := buildMutants(t)
	for name, m := range mutations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mutant := filepath.Join(t.TempDir(), name)
			must.Do(t, os.Symlink(binary, mutant))
			violations := m.violate(t, mutant)
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
