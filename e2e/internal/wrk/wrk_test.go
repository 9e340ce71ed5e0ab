package wrk

import "testing"

// TestStateAt checks the generator of create.lua, step by step.
func TestStateAt(t *testing.T) {
	t.Parallel()
	x := uint64(0)
	for n := range int64(1000) {
		if got := stateAt(n); uint64(got) != x {
			t.Fatalf("after %d steps: %d, want %d", n, got, x)
		}
		x = (1664525*x + 1013904223) % (1 << 32)
	}
}
