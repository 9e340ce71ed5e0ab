package browse

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// parts reads all pages from an id on, and returns the ids of their plants and of corrupt records.
func parts(t *testing.T, f *fakeStore, from int64, prefix string) (pages []page, ids, corrupt string) {
	t.Helper()
	for {
		p, err := readPage(t.Context(), f.store(), from, prefix)
		if err != nil || len(p.Plants) > pageSize || len(pages) > 50 {
			t.Fatalf("page %d: %d plants, %v", len(pages), len(p.Plants), err)
		}
		pages = append(pages, p)
		ids = strings.TrimSpace(ids + " " + idsOf(p.Plants))
		if p.Corrupt != nil {
			corrupt += p.Corrupt.ID
		}
		if p.Next == "" {
			return pages, ids, corrupt
		}
		if from, err = strconv.ParseInt(p.Next, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPages checks that each plant is on exactly one page, and that a page ends at a corrupt
// record, which the next one skips.
func TestPages(t *testing.T) {
	t.Parallel()
	f := &fakeStore{ids: append(append([]int64{math.MinInt64}, sequence(-60, 120)...), math.MaxInt64-1, math.MaxInt64), corrupt: []int64{-30, math.MaxInt64 - 1}}
	pages, ids, corrupt := parts(t, f, math.MinInt64, "")
	var want []string
	for _, id := range f.ids {
		if !slices.Contains(f.corrupt, id) {
			want = append(want, formatID(id))
		}
	}
	if ids != strings.Join(want, " ") || corrupt != "-309223372036854775806" || len(pages) != 4 {
		t.Errorf("%d pages: %s; corrupt: %s", len(pages), ids, corrupt)
	}
	f.unnamed = true // it is unknown where readable records follow
	if pages, ids, _ := parts(t, f, -31, ""); len(pages) != 1 || ids != "-31" || pages[0].Corrupt == nil || pages[0].Corrupt.ID != "" {
		t.Errorf("a corrupt record without an id: %s, %+v", ids, pages)
	}
}

// TestSearchInParts checks that a search reads for a limited time at once, and finds all names
// that begin with a text, in upper or lower case.
func TestSearchInParts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fakeStore{ids: sequence(1, 1000), names: make(map[int64]string), corrupt: []int64{500}, slow: time.Millisecond}
		for _, id := range f.ids {
			f.names[id] = []string{"Aloe", "aLOEs", "al", "Käfer", ""}[id%5]
		}
		began := time.Now()
		pages, ids, corrupt := parts(t, f, -9, "ALOE")
		searched := int64(0)
		for _, p := range pages {
			searched += p.Searched
		}
		if found := len(strings.Fields(ids)); found != 399 || searched != 999 || corrupt != "500" {
			t.Errorf("%d found of %d, %q is corrupt", found, searched, corrupt)
		}
		if each := time.Since(began) / time.Duration(len(pages)); each > scanTime+2*time.Millisecond {
			t.Errorf("a part takes %v", each)
		}
	})
}

// TestHighestID checks that the highest id is found with a bounded number of reads.
func TestHighestID(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		f := &fakeStore{ids: rapid.SliceOf(rapid.Int64()).Draw(r, "ids")}
		slices.Sort(f.ids)
		want := int64(math.MinInt64)
		if len(f.ids) > 0 {
			want = f.ids[len(f.ids)-1]
		}
		f.corrupt = []int64{want}
		if got, err := highestID(t.Context(), f.store()); got != want || err != nil || f.lists != 64 || f.reads > 64 {
			r.Errorf("%d, %v after %d lists of %d records, want %d", got, err, f.lists, f.reads, want)
		}
	})
}

func TestHasPrefix(t *testing.T) {
	t.Parallel()
	for texts, want := range map[[2]string]bool{
		{"Monstera", "mon"}:       true,
		{"Monstera", "Monstera"}:  true,
		{"Monstera", "Monsteras"}: false,
		{"Monstera", "onstera"}:   false,
		{"KÄFER", "käf"}:          true,
		{"\u212aelvin", "kel"}:    true, // three bytes fold to one
		{"", "a"}:                 false,
		{"", ""}:                  true,
		{"\xff", "\xff"}:          true,
	} {
		if got := hasPrefix(texts[0], texts[1]); got != want {
			t.Errorf("hasPrefix(%q) = %v", texts, got)
		}
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]text{
		"Käfer":                  {Text: "Käfer"},
		strings.Repeat("ä", 200): {Text: strings.Repeat("ä", 200)},
		strings.Repeat("ä", 201): {Text: strings.Repeat("ä", 200), Bytes: 402},
	} {
		if got := clip(in); got != want {
			t.Errorf("clip of %d bytes: %v", len(in), got)
		}
	}
}
