package browse

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// texts returns ids as the page gets them.
func texts(ids []int64) (all []string) {
	for _, id := range ids {
		all = append(all, strconv.FormatInt(id, 10))
	}
	return all
}

// TestPages checks that, for any ids, the page before an id and the page after it are the same
// as in a sorted slice, and that finding them takes a bounded number of reads.
func TestPages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := &fakeStore{}
		for range rapid.IntRange(0, 4).Draw(t, "clusters") {
			f.ids = append(f.ids, sequence(rapid.Int64Range(math.MinInt64, math.MaxInt64-2000).Draw(t, "first"), rapid.IntRange(0, 1500).Draw(t, "n"))...)
		}
		f.ids = append(f.ids, rapid.SliceOfN(rapid.Int64(), 0, 200).Draw(t, "others")...)
		slices.Sort(f.ids)
		f.ids = slices.Compact(f.ids)
		id := rapid.Int64().Draw(t, "id")
		if len(f.ids) > 0 && rapid.Bool().Draw(t, "taken") {
			id = rapid.SampledFrom(f.ids).Draw(t, "of")
		}
		if rapid.Bool().Draw(t, "top") {
			id = math.MaxInt64
		}
		s := &Site{options: f.options()}
		s.top.Store(rapid.Uint64().Draw(t, "hint"))
		at, _ := slices.BinarySearch(f.ids, id)

		got, err := s.from(t.Context(), id)
		want := page{Before: at > 0, After: len(f.ids)-at > pageWeight}
		wantIDs := texts(f.ids[at:min(len(f.ids), at+pageWeight)])
		if diff := cmp.Diff(wantIDs, idsOf(got.Plants)); diff != "" || err != nil || got.Before != want.Before || got.After != want.After {
			t.Errorf("from %d: %v, before %v, after %v, want %+v (-want +got):\n%s", id, err, got.Before, got.After, want, diff)
		}

		if at < len(f.ids) && f.ids[at] == id {
			at++
		}
		f.lists, f.reads = 0, 0
		got, err = s.through(t.Context(), id)
		want = page{Before: at > pageWeight, After: at < len(f.ids)}
		wantIDs = texts(f.ids[max(0, at-pageWeight):at])
		if diff := cmp.Diff(wantIDs, idsOf(got.Plants)); diff != "" || err != nil || got.Before != want.Before || got.After != want.After {
			t.Errorf("through %d: %v, before %v, after %v, want %+v (-want +got):\n%s", id, err, got.Before, got.After, want, diff)
		}
		if f.lists > 110 || f.reads > 110*(maxWeight+1) {
			t.Errorf("through %d: %d lists with %d records", id, f.lists, f.reads)
		}
	})
}

// TestTopIsFoundAgain checks that the page with the highest ids is found with few reads while
// plants with higher ids are created.
func TestTopIsFoundAgain(t *testing.T) {
	t.Parallel()
	f := &fakeStore{ids: sequence(1, 1_000_000)}
	s := f.site(t)
	most := 0
	for round := range 20 {
		f.lists = 0
		p, err := s.through(t.Context(), math.MaxInt64)
		if err != nil || len(p.Plants) != pageWeight || p.Plants[pageWeight-1].ID != strconv.Itoa(len(f.ids)) {
			t.Fatalf("round %d: %v, %d plants of %d: %v", round, err, len(p.Plants), len(f.ids), p.Plants)
		}
		if round > 0 {
			most = max(most, f.lists)
		}
		f.ids = append(f.ids, sequence(int64(len(f.ids)+1), 200*round)...)
	}
	if most > 15 {
		t.Errorf("the top was found again with up to %d reads", most)
	}
}

// TestLargePlants checks that pages with large plants are short, and that each plant is on
// exactly one page.
func TestLargePlants(t *testing.T) {
	t.Parallel()
	f := &fakeStore{ids: sequence(-100, 200), sizes: make(map[int64]int)}
	for i, id := range f.ids {
		f.sizes[id] = []int{1, 1 << 20, 5, 300_000, 20 << 20}[i%5]
		if i > 10 { // most are small, for the speed of the test
			f.sizes[id] = min(f.sizes[id], 200_000)
		}
	}
	s := f.site(t)
	var up, down []string
	for from, after := int64(math.MinInt64), true; after; {
		p, err := s.from(t.Context(), from)
		if err != nil || len(p.Plants) == 0 {
			t.Fatalf("from %d: %v, %d plants", from, err, len(p.Plants))
		}
		up = append(up, idsOf(p.Plants)...)
		last, _ := strconv.ParseInt(up[len(up)-1], 10, 64)
		from, after = last+1, p.After
	}
	for last, before := int64(math.MaxInt64), true; before; {
		p, err := s.through(t.Context(), last)
		if err != nil || len(p.Plants) == 0 {
			t.Fatalf("through %d: %v, %d plants", last, err, len(p.Plants))
		}
		down = append(idsOf(p.Plants), down...)
		first, _ := strconv.ParseInt(down[0], 10, 64)
		last, before = first-1, p.Before
	}
	for name, got := range map[string][]string{"up": up, "down": down} {
		if diff := cmp.Diff(texts(f.ids), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestCorruptRecords checks that a corrupt record is shown with its id in both directions, and
// that the plants after it can be reached.
func TestCorruptRecords(t *testing.T) {
	t.Parallel()
	f := &fakeStore{ids: sequence(1, 100), sizes: map[int64]int{40: -1, 60: -1, 61: -1}}
	s := f.site(t)
	for _, tt := range []struct {
		through        bool
		id             int64
		first, last    string // plant
		corrupt        string
		before, beyond bool
	}{
		{false, math.MinInt64, "1", "39", "40", false, true},
		{false, 40, "", "", "40", true, true},
		{false, 41, "41", "59", "60", true, true},
		{false, 62, "62", "100", "", true, false},
		{true, 39, "1", "39", "", false, true},
		{true, 40, "", "", "40", true, true},
		{true, 59, "41", "59", "40", true, true},
		{true, 60, "", "", "60", true, true},
		{true, math.MaxInt64, "62", "100", "61", true, false},
	} {
		read := s.from
		if tt.through {
			read = s.through
		}
		p, err := read(t.Context(), tt.id)
		if err != nil {
			t.Fatal(err)
		}
		ids := append(idsOf(p.Plants), "")
		if p.Corrupt == nil {
			p.Corrupt = new(corruption)
		}
		if ids[0] != tt.first || ids[max(0, len(ids)-2)] != tt.last || p.Corrupt.ID != tt.corrupt ||
			p.Before != tt.before || p.After != tt.beyond {
			t.Errorf("%+v: plants %v, corrupt %+v, before %v, after %v", tt, ids, *p.Corrupt, p.Before, p.After)
		}
		if tt.corrupt != "" && !strings.Contains(p.Corrupt.Error, "wrong checksum") {
			t.Errorf("%+v: %s", tt, p.Corrupt.Error)
		}
	}
}

// TestCorruptSomewhere checks that, if the id of the corrupt record is unknown, the readable
// plants are shown and paging ends.
func TestCorruptSomewhere(t *testing.T) {
	t.Parallel()
	f := &fakeStore{ids: sequence(1, 100), sizes: map[int64]int{40: -1}, unnamed: true}
	s := f.site(t)
	p, err := s.from(t.Context(), 0)
	if err != nil || len(p.Plants) != 39 || p.Corrupt == nil || p.Corrupt.ID != "" || p.After {
		t.Errorf("%+v, %v", p, err)
	}
	p, err = s.through(t.Context(), 70)
	if err != nil || len(p.Plants) != 30 || p.Corrupt == nil || p.Corrupt.ID != "" || !p.Before {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]text{
		"":                             {Text: ""},
		"Käfer":                        {Text: "Käfer"},
		strings.Repeat("ä", 200):       {Text: strings.Repeat("ä", 200)},
		strings.Repeat("ä", 201):       {Text: strings.Repeat("ä", 200), Bytes: 402},
		strings.Repeat("x", 1_000_000): {Text: strings.Repeat("x", 200), Bytes: 1_000_000},
	} {
		if got := clip(in); got != want {
			t.Errorf("clip of %d bytes: %+v", len(in), got)
		}
	}
}
