package recent_test

import (
	"testing"

	"plantstore/internal/recent"
)

func TestMapIsBounded(t *testing.T) {
	t.Parallel()
	const limit, used = 10, 999
	m := recent.New[int, string](limit)
	m.Put(used, "in use")
	for i := range 200 {
		m.Put(i, "new")
		if n := m.Len(); n > limit {
			t.Fatalf("%d entries after %d", n, i)
		}
		if v, ok := m.Get(used); !ok || v != "in use" {
			t.Fatalf("the entry in use is %q, %t after %d", v, ok, i)
		}
		if _, ok := m.Get(i); !ok {
			t.Fatalf("%d was dropped at once", i)
		}
	}
	if v, ok := m.Get(0); ok {
		t.Errorf("the first one is still there: %q", v)
	}
}

// TestMapKeepsRecent checks that an entry stays while fewer than limit/2 others are used.
func TestMapKeepsRecent(t *testing.T) {
	t.Parallel()
	const limit = 10
	for filled := range limit {
		m := recent.New[int, int](limit)
		for i := range filled {
			m.Put(-i, 0)
		}
		m.Put(1, 1)
		for i := range limit / 2 {
			m.Put(2+i, 0)
		}
		if _, ok := m.Get(1); !ok {
			t.Errorf("dropped after %d others, with %d before", limit/2, filled)
		}
	}
}
