package config_test

import (
	"flag"
	"fmt"
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
	checkFile(t, ".env.example", func(string) string { return dotenvExample() })
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
		return before + begin + markdownTable() + end + after
	})
}

// TestDotenvExampleHoldsTheDefaults checks that without the # before its values .env.example
// has the defaults.
func TestDotenvExampleHoldsTheDefaults(t *testing.T) {
	t.Parallel()
	example := strings.ReplaceAll(dotenvExample(), "\n#", "\n")
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

// dotenvExample returns the contents of .env.example: all options with their help and
// default.
func dotenvExample() string {
	var b strings.Builder
	b.WriteString("# The options of plantstore. Copy this file to .env in the working directory of the\n" +
		"# server, and remove the # before options that differ from the default. Flags override\n" +
		"# the environment, which overrides .env. Put values with $, # or spaces in single\n" +
		"# quotes.\n")
	for _, o := range config.Options() {
		fmt.Fprintf(&b, "\n# %s\n#%s=%s\n", strings.ReplaceAll(o.Help, "`", ""), o.Env, o.Default)
	}
	return b.String()
}

// markdownTable returns the options as a table for the README.
func markdownTable() string {
	var b strings.Builder
	b.WriteString("| Environment | Flag | Default | Meaning |\n|---|---|---|---|\n")
	for _, o := range config.Options() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", o.Env, code("--", o.Flag), code("", o.Default), o.Help)
	}
	return b.String()
}

func code(prefix, text string) string {
	if text == "" {
		return ""
	}
	return "`" + prefix + text + "`"
}
