package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/config"
)

var update = flag.Bool("update", false, "rewrite .env.example and the table in README.md") //nolint:gochecknoglobals // a flag of go test

// checkFile compares a file at the root of the repository with its expected contents, or
// writes it.
func checkFile(t *testing.T, name string, current func(old string) string) {
	t.Helper()
	path := filepath.Join("..", "..", name)
	old, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	want := current(string(old))
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil { //nolint:gosec // it is published
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(old)); diff != "" {
		t.Errorf("%s is not current; go test ./internal/config -update rewrites it (-want +got):\n%s", name, diff)
	}
}

func TestDotenvExample(t *testing.T) {
	t.Parallel()
	checkFile(t, ".env.example", func(string) string { return config.DotenvExample() })
}

func TestReadmeTable(t *testing.T) {
	t.Parallel()
	checkFile(t, "README.md", func(old string) string {
		const begin, end = "<!-- options:begin -->\n", "<!-- options:end -->"
		before, rest, found := strings.Cut(old, begin)
		_, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Fatalf("README.md lacks the lines %s and %s", strings.TrimSpace(begin), end)
		}
		return before + begin + config.MarkdownTable() + end + after
	})
}

// TestDotenvExampleHoldsTheDefaults checks that without the # before its values .env.example
// has the defaults.
func TestDotenvExampleHoldsTheDefaults(t *testing.T) {
	t.Parallel()
	example := strings.ReplaceAll(config.DotenvExample(), "\n#", "\n")
	var lines []string
	for line := range strings.Lines(example) {
		if name, _, ok := strings.Cut(line, "="); ok && !strings.Contains(name, " ") {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	if len(lines) != len(config.Options()) {
		t.Fatalf("%d lines for %d options", len(lines), len(config.Options()))
	}
	c := load(t, config.Sources{Dotenv: readBack(t, t.TempDir(), lines)})
	if diff := cmp.Diff(load(t, config.Sources{}).Lines(), c.Lines()); diff != "" {
		t.Errorf("(-defaults +example):\n%s", diff)
	}
}
