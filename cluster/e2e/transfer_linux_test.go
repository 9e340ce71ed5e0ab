package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// TestMoving moves plants from each engine into each other one, with the commands
// of docs/keep.md.
func TestMoving(t *testing.T) {
	t.Parallel()
	sources, targets := engines(t), engines(t)
	const plants = "{\"id\":-9223372036854775808,\"name\":\"a\\u0000b\"}\n{\"id\":0,\"name\":\"\",\"tag\":\"\"}\n{\"id\":7,\"name\":\"\U0001F335\",\"tag\":\"t\"}\n"
	run := func(args ...string) {
		t.Helper()
		if out, err := plantstore.Command(t, t.TempDir(), nil, append([]string{"plants"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("plants %q: %v\n%s", args, err, out)
		}
	}
	first := filepath.Join(t.TempDir(), "first.jsonl")
	must.Do(t, os.WriteFile(first, []byte(plants), 0o600))
	for from, source := range sources {
		run("import", "--storage-url", source, first)
		for to, target := range targets {
			out, back := filepath.Join(t.TempDir(), "out.jsonl"), filepath.Join(t.TempDir(), "back.jsonl")
			run("export", "--storage-url", source, out)
			run("import", "--storage-url", target, out)
			run("export", "--storage-url", target, back)
			got, err := os.ReadFile(back)
			if err != nil || string(got) != plants {
				t.Errorf("from %s to %s: %q, %v, want %q", from, to, got, err, plants)
			}
		}
	}
}
