// Package tools finds the programs from outside that the end-to-end tests run.
package tools

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Require returns the path of a program: one that npm installed in the folder
// node of this module, else one on the PATH. Where it cannot be had the test is
// skipped and says so on stderr, but with CI=true it fails: what CI passes was
// checked with every tool.
func Require(t testing.TB, name string) string {
	t.Helper()
	path, err := find(name)
	if err == nil {
		return path
	}
	message := fmt.Sprintf("%s NOT CHECKED, %s is missing (npm ci --ignore-scripts in e2e/node installs it): %v", t.Name(), name, err)
	if os.Getenv("CI") == "true" {
		t.Fatal(message)
	}
	fmt.Fprintln(os.Stderr, message)
	t.Skip(message)
	return ""
}

func find(name string) (string, error) {
	dir, err := ModuleDir()
	if err != nil {
		return "", err
	}
	if path, err := exec.LookPath(filepath.Join(dir, "node", "node_modules", ".bin", name)); err == nil {
		return path, nil
	}
	return exec.LookPath(name)
}

// ModuleDir returns the folder of the module of the end-to-end tests.
func ModuleDir() (string, error) {
	out, err := exec.CommandContext(context.Background(), "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}
