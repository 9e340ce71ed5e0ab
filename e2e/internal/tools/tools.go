// Package tools finds the external programs and privileges that the end-to-end tests need. If one is
// missing, the test is skipped, or fails in CI.
package tools

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/internal/must"
)

// Require returns the path of a program, installed by npm in e2e/node,
// else on the PATH. Further names are alternatives. Without any of them the test is skipped,
// with a message on stderr; with CI=true it fails, so that CI checks with every tool.
func Require(t testing.TB, name string, others ...string) string {
	t.Helper()
	var problem error
	for _, name := range append([]string{name}, others...) {
		path, err := find(name)
		if err == nil {
			return path
		}
		problem = cmp.Or(problem, err)
	}
	NotChecked(t, fmt.Sprintf("%s is missing (make tools installs it): %v", name, problem))
	return ""
}

// RequireRoot ends a test that requires root like [Require], unless the process runs as root.
func RequireRoot(t testing.TB, may string) {
	t.Helper()
	if os.Geteuid() != 0 {
		NotChecked(t, "only root may "+may)
	}
}

// NotChecked skips the test and prints the reason on stderr; with CI=true it fails, so that a
// pass in CI means that the test ran.
func NotChecked(t testing.TB, why string) {
	t.Helper()
	message := t.Name() + " NOT CHECKED: " + why
	if os.Getenv("CI") == "true" {
		t.Fatal(message)
	}
	fmt.Fprintln(os.Stderr, message)
	t.Skip(message)
}

func find(name string) (string, error) {
	dir, err := ProjectDir()
	if err != nil {
		return "", err
	}
	if path, err := exec.LookPath(filepath.Join(dir, "e2e", "node", "node_modules", ".bin", name)); err == nil {
		return path, nil
	}
	return exec.LookPath(name)
}

// NodeFile returns the contents of a file of a package that npm installed in the directory node
// of this module. Without the file, it ends the test like [Require].
func NodeFile(t testing.TB, name string) []byte {
	t.Helper()
	contents, err := os.ReadFile(filepath.Join(Project(t), "e2e", "node", "node_modules", filepath.FromSlash(name)))
	if err != nil {
		NotChecked(t, fmt.Sprintf("%s is missing (make tools installs it): %v", name, err))
	}
	return contents
}

// ProjectDir returns the directory of the project: the nearest one above the working directory
// with a directory .ci.
func ProjectDir() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".ci")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no directory above %s has a directory .ci", start)
		}
	}
}

// Project is [ProjectDir] for a test.
func Project(t testing.TB) string {
	t.Helper()
	dir := must.Get(ProjectDir())(t)
	return dir
}

// ProjectFile returns the contents of a file of the project, named by its slash-separated path
// relative to the project.
func ProjectFile(t testing.TB, name string) []byte {
	t.Helper()
	contents := must.Get(os.ReadFile(filepath.Join(Project(t), filepath.FromSlash(name))))(t)
	return contents
}

// Tags returns the build tags with which the program is released.
func Tags() (string, error) {
	dir, err := ProjectDir()
	if err != nil {
		return "", err
	}
	tags, err := os.ReadFile(filepath.Join(dir, ".ci", "tags"))
	return strings.TrimSpace(string(tags)), err
}
