package storagetest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"plantstore/models"
	"plantstore/storage"
)

// edges returns records with ids at which an order of bytes or a sign could go wrong, ascending.
func edges() []storage.Record {
	var records []storage.Record
	for _, id := range []int64{
		math.MinInt64, math.MinInt64 + 1, -1<<53 - 1, -1 << 32, -257, -256, -255, -2, -1,
		0, 1, 127, 128, 255, 256, 1 << 32, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64,
	} {
		records = append(records, storage.Record{ID: id, Plant: models.Plant{Name: fmt.Sprint(id)}})
	}
	return records
}

func testGetNotFound(t *testing.T, open Open) {
	s := mustOpen(t, open)
	mustCreate(t, s, storage.Record{ID: 5, Plant: models.Plant{Name: "a"}})
	for _, id := range []int64{math.MinInt64, -5, 0, 4, 6, math.MaxInt64} {
		_, err := s.Get(t.Context(), id)
		wantError(t, fmt.Sprintf("Get(%d)", id), err, storage.ErrNotFound)
	}
}

func testGetContextEnded(t *testing.T, open Open) {
	s := mustOpen(t, open)
	mustCreate(t, s, storage.Record{ID: 5, Plant: models.Plant{Name: "a"}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Get(ctx, 5)
	wantError(t, "Get", err, context.Canceled)
}

func testListOrder(t *testing.T, open Open) {
	s := mustOpen(t, open)
	if got := mustList(t, s, math.MinInt64); got != nil {
		t.Errorf("List of an empty store = %v", got)
	}
	want := edges()
	backwards := slices.Clone(want)
	slices.Reverse(backwards)
	for _, r := range backwards { // one by one: each in a separate commit
		mustCreate(t, s, r)
	}
	if diff := gocmp.Diff(want, mustList(t, s, math.MinInt64)); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
}

func testListFrom(t *testing.T, open Open) {
	s := mustOpen(t, open)
	records := edges()
	mustCreate(t, s, records...)
	for _, from := range []int64{math.MinInt64, math.MinInt64 + 2, -3, -1, 0, 2, 1 << 40, math.MaxInt64} {
		i, _ := slices.BinarySearchFunc(records, from, func(r storage.Record, id int64) int { return cmp.Compare(r.ID, id) })
		if diff := gocmp.Diff(records[i:], mustList(t, s, from)); diff != "" {
			t.Errorf("List(%d) (-want +got):\n%s", from, diff)
		}
	}
}

// testListDescending lists ids that are dense, or far apart, from the last one and from others on.
func testListDescending(t *testing.T, open Open) {
	s := mustOpen(t, open)
	if got := mustCollect(t, s.ListDescending(t.Context(), math.MaxInt64)); got != nil {
		t.Errorf("ListDescending of an empty store = %v", got)
	}
	records := edges()
	mustCreate(t, s, records...)
	dense := many(3000)
	for i := range dense {
		dense[i].ID += 1 << 40
	}
	mustCreateAll(t, s, dense)
	records = slices.SortedFunc(slices.Values(append(records, dense...)), func(a, b storage.Record) int { return -cmp.Compare(a.ID, b.ID) })
	for _, from := range []int64{math.MaxInt64, math.MaxInt64 - 1, 1 << 50, 1<<40 + 1200, 1 << 35, 2, 0, -1, -3, math.MinInt64 + 2, math.MinInt64} {
		i := slices.IndexFunc(records, func(r storage.Record) bool { return r.ID <= from })
		if diff := gocmp.Diff(records[i:], mustCollect(t, s.ListDescending(t.Context(), from))); diff != "" {
			t.Errorf("ListDescending(%d) (-want +got):\n%s", from, diff)
		}
	}
}

// many returns n small records with the ids from -n/2 on.
func many(n int) []storage.Record {
	records := make([]storage.Record, n)
	for i := range records {
		records[i] = storage.Record{ID: int64(i - n/2), Plant: models.Plant{Name: fmt.Sprint(i)}}
	}
	return records
}

// testListManyAndBreak lists more than an engine is likely to read at a time.
func testListManyAndBreak(t *testing.T, open Open) {
	s := mustOpen(t, open)
	records := many(5000)
	mustCreateAll(t, s, records)
	if diff := gocmp.Diff(records, mustList(t, s, math.MinInt64)); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
	seq := s.List(t.Context(), records[0].ID)
	for _, n := range []int{1, 999, 1000, 1001, 2000} { // the sequence can be read again
		var got []storage.Record
		for r, err := range seq {
			if err != nil {
				t.Fatalf("List: %v", err)
			}
			if got = append(got, r); len(got) == n {
				break
			}
		}
		if diff := gocmp.Diff(records[:n], got); diff != "" {
			t.Errorf("List up to a break after %d (-want +got):\n%s", n, diff)
		}
	}
}

func testListContextEnds(t *testing.T, open Open) {
	s := mustOpen(t, open)
	mustCreate(t, s, many(100)...)
	for _, after := range []int{0, 1, 50} {
		ctx, cancel := context.WithCancel(t.Context())
		if after == 0 {
			cancel()
		}
		n, errs := 0, []error(nil)
		for _, err := range s.List(ctx, math.MinInt64) {
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if n++; n == after {
				cancel()
			}
		}
		cancel()
		if n != after || len(errs) != 1 {
			t.Errorf("context ended after %d records: List yielded %d and the errors %v", after, n, errs)
			continue
		}
		wantError(t, "List", errs[0], context.Canceled)
	}
}

// testListDoesNotBlockCreate creates so much during a list that an engine must move its files or
// mappings.
func testListDoesNotBlockCreate(t *testing.T, open Open) {
	s := mustOpen(t, open)
	mustCreate(t, s, many(10)...)
	seen := 0
	for r, err := range s.List(t.Context(), math.MinInt64) {
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		seen++
		if r.ID < 5 {
			mustCreate(t, s, storage.Record{ID: 100 + r.ID, Plant: models.Plant{Name: strings.Repeat("x", 1<<20)}})
		}
	}
	if seen < 10 {
		t.Errorf("List yielded %d of the 10 plants that were there before", seen)
	}
}

// testCount counts plants that were created in each possible way, and again after a restart.
func testCount(t *testing.T, open Open) {
	s := mustOpen(t, open)
	for step, want := range []int64{0, 1, 301, 301} {
		switch step {
		case 1:
			mustCreate(t, s, storage.Record{ID: 1 << 40})
		case 2:
			mustCreateAll(t, s, many(300))
			wantExists(t, "Create", s.Create(t.Context(), 1<<40, models.Plant{}), true)
		case 3:
			mustClose(t, s)
			s = mustOpen(t, open)
		}
		if got, err := s.Count(t.Context()); err != nil || got != want {
			t.Errorf("Count = %d, %v, want %d", got, err, want)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	_, err := s.Count(ended)
	wantError(t, "Count", err, context.Canceled)
	mustClose(t, s)
	_, err = s.Count(t.Context())
	wantError(t, "Count", err, storage.ErrUnavailable)
}
