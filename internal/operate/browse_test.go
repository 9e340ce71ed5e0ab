package operate

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// parts reads all parts from an id on, or down, and returns the ids of their plants and of corrupt records.
func parts(t *testing.T, f *fakeStore, descending bool, from int64, prefix string) (all []part, ids, corrupt string) {
	t.Helper()
	for {
		target := fmt.Sprintf("/page/plants?from=%d&descending=%t&name=%s", from, descending, prefix)
		var p part
		if err := json.Unmarshal(get(t, f.site(), "127.0.0.1", target, "key").Body.Bytes(), &p); err != nil || len(p.Plants) > pageSize || len(all) > 50 {
			t.Fatalf("part %d: %d plants, %v", len(all), len(p.Plants), err)
		}
		all = append(all, p)
		ids = strings.TrimSpace(ids + " " + idsOf(p.Plants))
		if p.Corrupt != nil && p.Corrupt.ID != nil {
			corrupt = strings.TrimSpace(fmt.Sprint(corrupt, " ", *p.Corrupt.ID))
		}
		if p.Next == nil {
			return all, ids, corrupt
		}
		from = *p.Next
	}
}

// TestParts checks that each plant is in exactly one part, and that a part ends at a corrupt record, which
// the next one skips, in both directions and at both ends.
func TestParts(t *testing.T) {
	t.Parallel()
	edges := []int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64 - 1, math.MaxInt64}
	f := &fakeStore{ids: slices.Concat(edges[:2], sequence(-60, 120), edges[2:])}
	for _, corrupt := range [][]int64{{-30, math.MaxInt64 - 1}, {-30, math.MaxInt64}, {math.MinInt64, -30}} {
		f.corrupt = corrupt
		intact := slices.DeleteFunc(slices.Clone(f.ids), func(id int64) bool { return slices.Contains(corrupt, id) })
		all, ids, found := parts(t, f, false, math.MinInt64, "")
		if ids != join(intact) || found != join(corrupt) || len(all) < 3 {
			t.Errorf("%d parts: %s; corrupt: %s", len(all), ids, found)
		}
		slices.Reverse(intact)
		if _, ids, found := parts(t, f, true, math.MaxInt64, ""); ids != join(intact) || found != join([]int64{corrupt[1], corrupt[0]}) {
			t.Errorf("descending: %s; corrupt: %s", ids, found)
		}
	}
	f.corrupt, f.unnamed = []int64{-30}, true // it is unknown where readable records follow
	if all, ids, _ := parts(t, f, false, -31, ""); len(all) != 1 || ids != "-31" || all[0].Corrupt == nil || all[0].Corrupt.ID != nil {
		t.Errorf("a corrupt record without an id: %s, %+v", ids, all)
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
		pages, ids, corrupt := parts(t, f, false, -9, "ALOE")
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

// TestCreates checks which of the last creates follow a number: of the last hundred those with higher
// numbers, and none from before a reset.
func TestCreates(t *testing.T) {
	t.Parallel()
	c := NewCreates()
	for id := range int64(250) {
		c.Add("", id+1) // as its number
	}
	check := func(after, first, last int64) {
		t.Helper()
		all, _ := c.feed.Query(httptest.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprint("/?after=", after), http.NoBody))
		if int64(len(all)) != last-first+1 || len(all) > 0 && (all[0].Number != first || all[0].Plant.ID != first || all[len(all)-1].Plant.ID != last) {
			t.Errorf("after %d: %v, want %d to %d", after, all, first, last)
		}
	}
	check(0, 151, 250)
	check(200, 201, 250)
	check(250, 251, 250)
	check(999, 251, 250)
	c.Clear()
	check(200, 251, 250)
	c.Add("", 251)
	check(0, 251, 251)
}
