// Package must ends a test when a step of it fails.
package must

import "testing"

// Do ends the test on an error.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get ends the test on an error, and returns the value otherwise: must.Get(os.Open(path))(t).
func Get[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return value
	}
}
