package durability

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/storage/bbolt/journal"
)

// A mutation removes one safeguard from the program: in a source file, old is replaced by new.
type mutation struct {
	file, old, new string
}

// overlay writes the mutant and returns the file for the flag -overlay of go build.
func (m mutation) overlay(t *testing.T) string {
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
	path := filepath.Join(dir, "overlay.json")
	must(t, os.WriteFile(path, overlay, 0o600))
	return path
}

// build builds the program with the mutation and returns its path.
func (m mutation) build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "plantstore")
	must(t, plantstore.Build(binary, "-overlay", m.overlay(t)))
	return binary
}

// TestMutantsLosePlants removes the safeguards one by one. Each time a test above must detect
// it.
func TestMutantsLosePlants(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mutation mutation
		journal  int
		violate  func(t *testing.T, p program) []string
	}{
		"no sync of checkpoints": { // a half is recycled before its checkpoint is durable
			mutation{"storage/bbolt/update.go", "if err := errors.Join(put(", "e.db.NoSync = state != nil && len(records) > 0; if err := errors.Join(put("},
			journal.MinSize, cutPower,
		},
		"no sync of the database, without a journal": {
			mutation{"storage/bbolt/open.go", "NoStatistics:    true,", "NoStatistics: true, NoSync: true,"},
			0, cutPower,
		},
		"no sync of directories": {
			mutation{"internal/files/directory.go", `runtime.GOOS == "windows"`, `runtime.GOOS != ""`},
			journal.MinSize, cutPower,
		},
		"no sync of the journal": {
			mutation{"storage/bbolt/journal/journal.go", "if err := j.file.Sync(); err != nil {", "if err := error(nil); err != nil {"},
			journal.MinSize, cutPower,
		},
		"a half is recycled before its checkpoint": {
			mutation{
				"storage/bbolt/journal/checkpoint.go", "h := j.inactive() // no half",
				"frozen := *j.inactive(); h := &frozen; j.mu.Lock(); *j.inactive() = half{at: h.at}; j.mu.Unlock() // no half",
			},
			journal.MinSize, fillDuringCheckpoint,
		},
		"a journal with another salt is accepted": {
			mutation{"storage/bbolt/journal/replay.go", "if h.Salt != state.Salt {", "if false {"},
			journal.MinSize, swapJournals,
		},
		"pending plants are not looked up": {
			mutation{"storage/bbolt/commit.go", "batch[i].Existing, batch[i].Err = e.pending(batch[i].ID)", "_ = i"},
			journal.MinSize, createTwice,
		},
		"a read leaves out pending plants": {
			mutation{"storage/bbolt/read.go", "pending := e.journal.Pending(from)", "pending := e.journal.Pending(from)[:0]"},
			journal.MinSize, exportPending,
		},
		"pending plants are not written again at the start": {
			mutation{"storage/bbolt/journal/replay.go", "if err == nil && writable {", "if false {"},
			journal.MinSize, failSyncs,
		},
		"no stop after a failed sync of the journal": {
			mutation{
				"storage/bbolt/journal/journal.go", "j.failed = fmt.Errorf(\"%w: %w\", ErrUnknown, err)\n\t\treturn j.failed\n\t}\n\tj.mu.",
				"return err\n\t}\n\tj.mu.",
			},
			journal.MinSize, failSyncs,
		},
		"no stop after a fault of the tree": {
			mutation{"storage/bbolt/update.go", "case e.mayHaveHappened(txid):", "case false:"},
			0, failSyncs,
		},
		"no new meta pages": {
			mutation{"storage/bbolt/open.go", "if err := resyncMeta(e.file, e.pageSize); err != nil {", "if err := error(nil); err != nil {"},
			0, failSyncs,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			violations := tt.violate(t, program{binary: tt.mutation.build(t), journal: tt.journal})
			if len(violations) == 0 {
				t.Fatal("not detected")
			}
			t.Logf("seen: %s", violations[0])
		})
	}
}

// TestMutantsOfReplay removes checks that matter for corruption only, which the tests of the
// journal itself detect best.
func TestMutantsOfReplay(t *testing.T) {
	t.Parallel()
	const replay, format = "storage/bbolt/journal/replay.go", "storage/bbolt/journal/format.go"
	for name, m := range map[string]mutation{
		"a corrupt batch is skipped":           {replay, "b.sequence != want {", "false && b.sequence != want {"},
		"a payload is not checked":             {replay, "return b, checksum(j.salt, b.payload()) == b.sum, nil", "return b, true, nil"},
		"a later state of the database":        {replay, "last < known {", "false && last < known {"},
		"checksums do not begin with a salt":   {format, "crc32.Update(crc32.Checksum(salt[:], table), table, data)", "crc32.Checksum(data, table)"},
		"the header of a batch is not checked": {format, "if binary.LittleEndian.Uint32(b) != checksum(salt, b[payloadSumAt:batchHeadLen]) {", "if false {"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), "go", "test", "-short", "-overlay", m.overlay(t), "./storage/bbolt/journal")
			cmd.Dir = tools.Project(t)
			out, err := cmd.CombinedOutput()
			_, seen, _ := strings.Cut(string(out), "--- FAIL: ")
			if err == nil || seen == "" {
				t.Fatalf("not detected: %v\n%s", err, out)
			}
			t.Logf("seen: %s", seen[:strings.IndexByte(seen, '\n')])
		})
	}
}

// cutPower is [TestPowerLoss] for a mutant.
func cutPower(t *testing.T, p program) []string {
	t.Helper()
	tr := recordLife(t, p, seed(t))
	tr.variants = 8
	return tr.run(t, newOpeners(t)).violations
}

// failSyncs is [TestFailingSync] for a mutant.
func failSyncs(t *testing.T, p program) []string {
	t.Helper()
	f, idle := failingSync(), newOpeners(t)
	f.program = p
	for n := 1; n <= f.creates; n++ {
		if o := failOnce(t, idle, seed(t), f, n); len(o.violations) > 0 {
			return o.violations
		}
	}
	return nil
}

// createTwice creates plants a second time, while they are pending.
func createTwice(t *testing.T, p program) []string {
	t.Helper()
	s := newSite(t, p, seed(t))
	must(t, s.start())
	defer s.server.Kill()
	for range 10 {
		id, plant := s.next()
		s.create(id, plant)
		s.create(id, plant)
	}
	return s.ledger.contradictions
}

// exportPending exports the plants of a killed server, which are in its journal only.
func exportPending(t *testing.T, p program) []string {
	t.Helper()
	l := newLife(t, p, 5, 8)
	cmd := exec.CommandContext(t.Context(), p.binary, "plants", "export", "--format", "jsonl")
	cmd.Dir = l.dir
	out, err := cmd.Output()
	must(t, err)
	if n := bytes.Count(out, []byte("\n")); n != len(l.plants) {
		return []string{fmt.Sprintf("it exports %d plants of %d", n, len(l.plants))}
	}
	return nil
}
