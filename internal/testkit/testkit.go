// Package testkit ends tests that cannot run on a machine.
package testkit

import (
	"fmt"
	"os"
	"testing"
)

// RequireRoot skips a test that does what only root may do, where it is not root.
// With CI=true it fails.
func RequireRoot(t testing.TB, may string) {
	t.Helper()
	if os.Geteuid() != 0 {
		NotChecked(t, "only root may "+may)
	}
}

// NotChecked skips the test and says why on stderr, but with CI=true it fails: what
// CI passes was checked.
func NotChecked(t testing.TB, why string) {
	t.Helper()
	message := t.Name() + " NOT CHECKED: " + why
	if os.Getenv("CI") == "true" {
		t.Fatal(message)
	}
	fmt.Fprintln(os.Stderr, message)
	t.Skip(message)
}
