package journal_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"plantstore/storage/bbolt/journal"
)

// TestCheckpoint breaks a checkpoint off in its last part, for each number of records in a
// part, and then finishes it.
func TestCheckpoint(t *testing.T) {
	t.Parallel()
	path, salt := create(t)
	state := journal.State{Salt: salt}
	j := open(t, path, state)
	if part := begin(j, state, 1); part.Done != 0 || j.Frozen() {
		t.Fatal("an empty half was frozen")
	}
	all := map[int64]string{}
	add(t, j, all, 5, 3, -1, math.MaxInt64)
	add(t, j, all, 5, 2, math.MinInt64)
	frozen := []int64{math.MinInt64, -1, 2, 3, math.MaxInt64}
	for n := 1; n < 7; n++ {
		var ids []int64
		j.Freeze()
		for part := range parts(j, state, n) {
			for _, r := range part.Records {
				ids = append(ids, r.ID)
				if string(r.Value) != all[r.ID] {
					t.Errorf("record %d has value %q", r.ID, r.Value)
				}
			}
			if last := len(ids) == len(frozen); len(part.Records) > n || last != (part.Done == 1) || last != (part.State.Through == 0) {
				t.Errorf("part with %d of %d records: %+v", len(ids), len(frozen), part)
			}
			if part.Done == 1 {
				break
			}
		}
		if !slices.Equal(ids, frozen) {
			t.Errorf("frozen: %d", ids)
		}
		add(t, j, all, 5, int64(10*n)) // to the other half
	}
	want(t, j, all)
	checkpoint(j, state, all)
	if len(all) != 6 || j.Frozen() {
		t.Errorf("%d records are pending, frozen: %t", len(all), j.Frozen())
	}
	want(t, j, all)
}

// TestPartialCheckpoint opens a journal after each number of records that a
// transaction can have applied, and finishes the checkpoint in steps, each after
// another restart and with new records between.
func TestPartialCheckpoint(t *testing.T) {
	t.Parallel()
	for _, behind := range []bool{false, true} { // whether batches follow in the other half
		for n := 1; n < 13; n++ {
			random := rand.New(rand.NewPCG(1, uint64(n))) //nolint:gosec // repeatable
			path, salt := create(t)
			state := journal.State{Salt: salt}
			j := open(t, path, state)
			all := map[int64]string{}
			ids := random.Perm(40)
			next := func() int64 { id := int64(ids[0]) * 10; ids = ids[1:]; return id - 200 }
			for range 4 {
				add(t, j, all, random.IntN(6000), next(), next(), next())
			}
			for n := n; ; n = 1 + random.IntN(12) {
				part := begin(j, state, n)
				if behind {
					add(t, j, all, random.IntN(6000), next(), next())
				}
				for _, r := range part.Records {
					delete(all, r.ID)
				}
				state = part.State
				if state.Clean || state.Salt != salt {
					t.Fatalf("state %+v", state)
				}
				b, _ := state.MarshalBinary()
				if err := state.UnmarshalBinary(b); err != nil {
					t.Fatal(err)
				}
				j = reopen(t, j, path, state)
				want(t, j, all)
				if part.Done == 1 {
					break
				}
				add(t, j, all, 10, next())
				want(t, j, all)
				if len(ids) < 4 { // enough of it
					break
				}
			}
		}
	}
}

// TestRestartBetweenCheckpoints restarts and appends after each checkpoint: the half
// used then must not be the half with the last batch applied.
func TestRestartBetweenCheckpoints(t *testing.T) {
	t.Parallel()
	path, salt := create(t)
	state := journal.State{Salt: salt}
	j := open(t, path, state)
	all := map[int64]string{}
	for id := range int64(20) {
		add(t, j, all, 3*journal.Block, 100+id)
		add(t, j, all, 10, id)
		state = checkpoint(j, state, all)
		j = reopen(t, j, path, state)
		want(t, j, all)
	}
}
