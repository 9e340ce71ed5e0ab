package main

import (
	"path/filepath"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/e2e/internal/wrk"
)

// TestFillAndLoadHaveTheSameIDs checks that a store is filled with the first ids of wrk: each of
// them is refused when it is sent again, and no later one is.
func TestFillAndLoadHaveTheSameIDs(t *testing.T) {
	t.Parallel()
	tools.Require(t, "wrk")
	h := &harness{settings: settings{tokens: 1}, dir: t.TempDir()}
	h.binaries = map[string]string{plantstoreName: filepath.Join(h.dir, "plantstore")}
	if err := plantstore.Build(h.binaries[plantstoreName]); err != nil {
		t.Fatal(err)
	}
	if err := h.writeInputs(); err != nil {
		t.Fatal(err)
	}
	for _, order := range []string{wrk.Ascending, wrk.Scattered} {
		const filled = 100
		original := &store{order: order, plants: filled}
		if err := original.fill(t.Context(), filepath.Join(h.dir, order)); err != nil {
			t.Fatal(err)
		}
		s, err := original.copyTo(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		p, err := start(t.Context(), h.binaries[plantstoreName], s.dir, h.token, nil, "serve")
		if err != nil {
			t.Fatal(err)
		}
		// wrk generates one request that it does not send, as a sample.
		for _, shot := range []struct{ first, want int64 }{{filled / 2, filled/2 - 1}, {100_000, 0}} {
			s.next = shot.first
			got, err := h.shoot(t.Context(), contender{load: load{order: order, clients: 2}}, s, p, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if got.bad != shot.want {
				t.Errorf("%s ids from %d on: %d refused, want %d", order, shot.first, got.bad, shot.want)
			}
		}
		p.stop()
	}
}
