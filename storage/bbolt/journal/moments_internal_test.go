package journal

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOtherMoments opens each journal of a long history with each state of the history. It must
// be refused, or database and journal together must have all records that were appended until
// the later of the two.
func TestOtherMoments(t *testing.T) {
	t.Parallel()
	content, state := blank(24)
	d := diskOf(content)
	j := mustOpen(t, d, state)
	random := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // repeatable
	type moment struct {
		content      []byte
		state        State
		stored, have map[int64]string
	}
	now := moment{state: state, stored: map[int64]string{}, have: map[int64]string{}}
	var moments []moment
	for id := int64(1); id < 60; id++ {
		records := batchOf(random, 6000, id*7919%10007, id*7919%10007+20000)
		if err := j.Append(records); err != nil {
			t.Fatal(err)
		}
		now.have = with(now.have, records)
		if id%4 == 0 {
			j.Freeze()
			for part := range parts(j, now.state, 2+random.IntN(7)) {
				now.stored = with(now.stored, part.Records)
				now.state = part.State
				now.content = slices.Clone(d.durable)
				moments = append(moments, now)
			}
		}
		now.content = slices.Clone(d.durable)
		moments = append(moments, now)
	}
	right := 0
	for i, file := range moments {
		for k, database := range moments {
			j, err := open(diskOf(file.content), database.state)
			if err != nil {
				if !errors.Is(err, ErrStale) && !errors.Is(err, ErrCorrupt) {
					t.Fatal(err)
				}
				if i == k {
					t.Fatalf("moment %d: %v", i, err)
				}
				continue
			}
			got := contents(j)
			_ = j.Close()
			maps.Copy(got, database.stored)
			if diff := cmp.Diff(file.have, got); diff != "" {
				t.Fatalf("journal of moment %d, database of %d (-want +got):\n%.1000s", i, k, diff)
			}
			right++
		}
	}
	if right < 2*len(moments) {
		t.Errorf("%d pairs of %d were accepted", right, len(moments)*len(moments))
	}
}
