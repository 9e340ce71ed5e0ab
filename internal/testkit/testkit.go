// Package testkit ends tests that cannot run on a machine.
package testkit

import (
	"fmt"
	"os"
	"testing"
)

// RequireRoot skips a test that needs the rights of root, unless it has them.
// With CI=true it fails.
func RequireRoot(t testing.TB, may string) {
	t.Helper()
	if os.Geteuid() != 0 {
		NotChecked(t, "only root may "+may)
	}
}

// NotChecked skips the test and prints the reason on stderr, but with CI=true it fails: a
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
