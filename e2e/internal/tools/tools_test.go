package tools_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"plantstore/e2e/internal/tools"
)

// A fakeTB is a test that records how it was ended.
type fakeTB struct {
	testing.TB
	failed, skipped string
}

func (f *fakeTB) Helper()           {}
func (f *fakeTB) Name() string      { return "TestFake" }
func (f *fakeTB) Fatal(args ...any) { f.failed = fmt.Sprint(args...); runtime.Goexit() }
func (f *fakeTB) Skip(args ...any)  { f.skipped = fmt.Sprint(args...); runtime.Goexit() }

func TestRequireMissingTool(t *testing.T) { //nolint:paralleltest // it sets CI
	for _, tt := range []struct {
		ci    string
		fails bool
	}{{"true", true}, {"", false}} {
		t.Setenv("CI", tt.ci)
		fake := &fakeTB{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			tools.Require(fake, "no-such-tool")
		}()
		<-done
		if (fake.failed != "") != tt.fails || (fake.skipped != "") == tt.fails {
			t.Errorf("CI=%q: failed %q, skipped %q", tt.ci, fake.failed, fake.skipped)
		}
		if !strings.Contains(fake.failed+fake.skipped, "TestFake NOT CHECKED: no-such-tool is missing") {
			t.Errorf("CI=%q: it does not name the missing program: %q", tt.ci, fake.failed+fake.skipped)
		}
	}
}
