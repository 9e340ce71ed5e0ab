package testkit_test

import (
	"fmt"
	"testing"

	"plantstore/internal/testkit"
)

// TestNotChecked checks how a test ends that cannot run.
func TestNotChecked(t *testing.T) { //nolint:paralleltest // it sets CI
	for ci, want := range map[string]string{"true": "failed: ", "": "skipped: "} {
		t.Setenv("CI", ci)
		fake := &fakeTB{TB: t}
		testkit.NotChecked(fake, "operation not permitted")
		if want += "TestFake NOT CHECKED: operation not permitted"; fake.ended[:len(want)] != want {
			t.Errorf("CI=%q: %q, want %q", ci, fake.ended, want)
		}
	}
}

// A fakeTB is a test that records how it was ended.
type fakeTB struct {
	testing.TB
	ended string
}

func (f *fakeTB) Helper()           {}
func (f *fakeTB) Name() string      { return "TestFake" }
func (f *fakeTB) Fatal(args ...any) { f.ended += "failed: " + fmt.Sprint(args...) }
func (f *fakeTB) Skip(args ...any)  { f.ended += "skipped: " + fmt.Sprint(args...) }
