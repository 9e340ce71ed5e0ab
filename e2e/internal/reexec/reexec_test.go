package reexec_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/reexec"
)

func TestMain(m *testing.M) {
	if code, child := reexec.Main(inspect); child {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// inspect returns the path in capitals; some paths make the process exit.
func inspect(path string) any {
	switch path {
	case "panic":
		panic("a bad file")
	case "sleep":
		select {}
	}
	return strings.ToUpper(path)
}

// TestWorker checks that a worker reports how its process has exited, and continues with a new
// one.
func TestWorker(t *testing.T) {
	t.Parallel()
	var w reexec.Worker
	for _, tt := range []struct {
		path  string
		limit time.Duration
		want  string
		err   string
	}{
		{path: "a", limit: time.Minute, want: "A"},
		{path: "panic", limit: time.Minute, err: "a bad file"},
		{path: "b b", limit: time.Minute, want: "B B"},
		{path: "sleep", limit: time.Millisecond, err: "ended"},
		{path: "c", limit: time.Minute, want: "C"},
	} {
		var got string
		err := w.Inspect(tt.path, tt.limit, &got)
		if got != tt.want || (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %q, %v; want %q and an error with %q", tt.path, got, err, tt.want, tt.err)
		}
	}
	for range 2 {
		if err := w.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}
