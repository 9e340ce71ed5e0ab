// Package testkit skips tests that cannot run on this machine, and fails them in CI.
package testkit

import (
	"fmt"
	"os"
	"testing"
)

// RequireRoot skips a test that requires root, unless the process runs as root. With CI=true it
// fails.
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
