package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/tools"
)

// TestShortRun measures every kind of group once, as briefly as possible. It checks the report and
// that all programs respond, but not the speed.
func TestShortRun(t *testing.T) {
	t.Parallel()
	tools.Require(t, "wrk")
	out := filepath.Join(t.TempDir(), "benchmarks.md")
	var table, progress bytes.Buffer
	err := run(t.Context(), []string{
		"-rounds", "1", "-duration", "1s", "-long", "2s", "-warm-up", "0s", "-tries", "1", "-tokens", "50", "-sequential", "2000", "-random", "1000",
		"-creates", "500x", "-only", "^ascending ids.*, c=64|^(chain|order|logs|stored|long).*, c=64", "-out", out,
	}, &table, &progress)
	if err != nil {
		t.Fatalf("%v\n%s", err, &progress)
	}
	lines := strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n")
	if want := 1 + len(targets(&results{})); len(lines) != want {
		t.Errorf("the table has %d lines, want %d", len(lines), want)
	}
	for _, line := range lines[1:] {
		if strings.Contains(line, "not measured") && (strings.Contains(line, "c=64") || !strings.Contains(line, "c=")) {
			t.Errorf("%s", line)
		}
	}
	if last := strings.Fields(lines[len(lines)-2]); last[len(last)-1] != "ok" {
		t.Errorf("a program refused requests:\n%s", &progress)
	}
	document, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| Machine |", "| SQLite |", "| bare |", "### Ascending ids, many tokens, c=64", "### Logs, c=64", "LOG_LEVEL=error", "### Stored plants, c=64",
		"### Order of ids, c=64", "### Long load, c=64", "| Longest pause, ms |", noJournal + ", ascending ids |",
	} {
		if !strings.Contains(string(document), want) {
			t.Errorf("the document lacks %s:\n%s", want, document)
		}
	}
}

// TestWrongFlags checks that each invalid flag is refused before anything is built.
func TestWrongFlags(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-rounds", "0"}, {"-duration", "10ms"}, {"extra"}, {"-nonsense"}, {"-only", "("}, {"-long", "10ms"}, {"-quick", "-rounds", "0"}} {
		if err := run(t.Context(), append(args, "-dir", t.TempDir()), t.Output(), t.Output()); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}

// TestQuick checks that a quick run does not write the document, and keeps the given arguments.
func TestQuick(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := parse([]string{"-quick", "-rounds", "3", "-dir", dir}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	if s.rounds != 3 || s.tries != 1 || s.out != filepath.Join(dir, "benchmarks.md") {
		t.Errorf("%+v", s)
	}
	if s, err = parse(nil, t.Output()); err != nil || s.rounds != 5 || s.out == filepath.Join(s.dir, "benchmarks.md") {
		t.Errorf("%+v, %v", s, err)
	}
}
