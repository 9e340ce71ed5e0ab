package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/storage/bbolt/journal"
)

// testSize is the size of the journals of these tests in bytes.
const testSize = 1 << 20

// create returns the path of a new journal and its salt.
func create(t testing.TB) (path string, salt journal.Salt) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "journal")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if salt, err = journal.Format(file, testSize); err != nil {
		t.Fatal(err)
	}
	if err := file.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path, salt
}

// open opens a journal until the test ends.
func open(t testing.TB, path string, state journal.State) *journal.Journal {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(file, state)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// reopen closes j and opens its file again.
func reopen(t testing.TB, j *journal.Journal, path string, state journal.State) *journal.Journal {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, path, state)
}

// pending returns all that j has.
func pending(t testing.TB, j *journal.Journal) map[int64]string {
	t.Helper()
	all := map[int64]string{}
	ids, err := j.IDs(math.MinInt64)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		value, found, err := j.Get(id)
		if !found || err != nil {
			t.Fatalf("IDs has %d, Get does not: %v", id, err)
		}
		all[id] = string(value)
	}
	return all
}

// want fails the test unless exactly these records are pending.
func want(t testing.TB, j *journal.Journal, records map[int64]string) {
	t.Helper()
	if diff := cmp.Diff(records, pending(t, j)); diff != "" {
		t.Fatalf("pending (-want +got):\n%.2000s", diff)
	}
	if n := j.Stats().Records; n != len(records) {
		t.Fatalf("Stats has %d records, not %d", n, len(records))
	}
}

// add appends a batch with the given ids and values of size bytes, and adds them to all.
func add(t testing.TB, j *journal.Journal, all map[int64]string, size int, ids ...int64) {
	t.Helper()
	records := make([]journal.Record, len(ids))
	for i, id := range ids {
		value := bytes.Repeat([]byte{byte(id & 0xff)}, size)
		copy(value, fmt.Sprintf("value of %d", id))
		records[i] = journal.Record{ID: id, Value: value}
		all[id] = string(value)
	}
	if err := j.Append(records); err != nil {
		t.Fatal(err)
	}
}

// parts is [journal.Journal.Checkpoint] without errors.
func parts(j *journal.Journal, state journal.State, n int) iter.Seq[journal.Part] {
	return func(yield func(journal.Part) bool) {
		for part, err := range j.Checkpoint(state, n) {
			if err != nil {
				panic(err)
			}
			if !yield(part) {
				return
			}
		}
	}
}

// checkpoint applies the records of a half to a database in that state, removes them from
// all, and returns its state after that.
func checkpoint(j *journal.Journal, state journal.State, all map[int64]string) journal.State {
	j.Freeze()
	for part := range parts(j, state, 100) {
		state = part.State
		for _, r := range part.Records {
			delete(all, r.ID)
		}
	}
	return state
}

// begin returns the first part of a checkpoint with n records, and breaks it off.
func begin(j *journal.Journal, state journal.State, n int) journal.Part {
	j.Freeze()
	for part := range parts(j, state, n) {
		return part
	}
	return journal.Part{State: state}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	path, salt := create(t)
	state := journal.State{Salt: salt}
	j := open(t, path, state)
	all := map[int64]string{}
	want(t, j, all)
	add(t, j, all, 20, 1)
	add(t, j, all, 0, 0, -1, math.MaxInt64, math.MinInt64)
	add(t, j, all, 3*journal.Block, 7, 5)
	add(t, j, all, 0) // an empty batch
	add(t, j, all, journal.Block-24-12, 9)
	want(t, j, all)
	if _, found, err := j.Get(2); found || err != nil {
		t.Error("Get found an id that was not appended")
	}
	ids := slices.Sorted(maps.Keys(all))
	for i, id := range ids {
		if got, err := j.IDs(id); !slices.Equal(got, ids[i:]) || err != nil {
			t.Errorf("IDs(%d) = %d, want %d", id, got, ids[i:])
		}
	}
	for range 2 {
		j = reopen(t, j, path, state)
		want(t, j, all)
	}
	if err := j.Rewrite(); err != nil {
		t.Fatal(err)
	}
	add(t, j, all, 9, 10)
	j = reopen(t, j, path, state)
	want(t, j, all)
}

// TestFull fills both halves, and continues after each checkpoint.
func TestFull(t *testing.T) {
	t.Parallel()
	path, salt := create(t)
	state := journal.State{Salt: salt}
	j := open(t, path, state)
	all := map[int64]string{}
	size := j.MaxBatch()/journal.Block/4*journal.Block - 24 - 12
	for id := range int64(8) {
		if frozen := j.Frozen(); frozen != (id > 4) {
			t.Errorf("frozen before batch %d: %t", id, frozen)
		}
		add(t, j, all, size, id)
	}
	for range 2 {
		if err := j.Append([]journal.Record{{ID: 8, Value: make([]byte, size)}}); !errors.Is(err, journal.ErrFull) {
			t.Fatalf("append to a full journal: %v", err)
		}
	}
	want(t, j, all)
	j = reopen(t, j, path, state)
	want(t, j, all)
	for id := int64(8); id < 40; id += 4 {
		if err := j.Append([]journal.Record{{ID: id, Value: make([]byte, size)}}); !errors.Is(err, journal.ErrFull) {
			t.Fatalf("append to a full journal: %v", err)
		}
		state = checkpoint(j, state, all)
		want(t, j, all)
		for i := range int64(4) {
			add(t, j, all, size, id+i)
		}
		if id%8 == 0 {
			j = reopen(t, j, path, state)
			want(t, j, all)
		}
	}
}

// TestTooLarge appends batches that do not fit into a half.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	path, salt := create(t)
	j := open(t, path, journal.State{Salt: salt})
	all := map[int64]string{}
	add(t, j, all, 1, -1)
	err := j.Append([]journal.Record{{ID: 1, Value: make([]byte, j.MaxBatch()-24-12+1)}})
	if err == nil || errors.Is(err, journal.ErrFull) || errors.Is(err, journal.ErrUnknown) {
		t.Errorf("a batch above MaxBatch: %v", err)
	}
	empty := make([]journal.Record, (j.MaxBatch()-24)/12)
	for i := range empty {
		empty[i].ID = int64(i)
	}
	if err = j.Append(empty); err == nil || errors.Is(err, journal.ErrFull) || errors.Is(err, journal.ErrUnknown) {
		t.Errorf("a batch of %d empty records: %v", len(empty), err)
	}
	if j.Frozen() {
		t.Error("a batch that was refused has frozen a half")
	}
	want(t, j, all)
	add(t, j, all, j.MaxBatch()-24-12, 1)
	want(t, j, all)
	j = reopen(t, j, path, journal.State{Salt: salt})
	want(t, j, all)
}

// TestManyEmpty fills a half with the smallest records, up to the bound of its index.
func TestManyEmpty(t *testing.T) {
	t.Parallel()
	path, salt := create(t)
	j := open(t, path, journal.State{Salt: salt})
	records := make([]journal.Record, 300) // fills a block nearly
	n := 0
	var err error
	for err == nil {
		for i := range records {
			records[i].ID = int64(n + i)
		}
		if err = j.Append(records); err == nil {
			n += len(records)
		}
	}
	if !errors.Is(err, journal.ErrFull) || n < 40_000 {
		t.Fatalf("after %d records: %v", n, err)
	}
	j = reopen(t, j, path, journal.State{Salt: salt})
	if got, err := j.IDs(0); len(got) != n || err != nil {
		t.Fatalf("%d records, want %d: %v", len(got), n, err)
	}
}
