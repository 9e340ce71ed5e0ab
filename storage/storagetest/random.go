package storagetest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"plantstore/models"
	"plantstore/storage"
)

// testRandomOperations compares the store with a map.
func testRandomOperations(t *testing.T, fresh Fresh) {
	ids := rapid.OneOf(
		rapid.Int64Range(-4, 4),
		rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64}),
		rapid.Int64(),
	)
	plants := plants()
	rapid.Check(t, func(r *rapid.T) {
		m := &machine{t: t, open: fresh(t), model: map[int64]models.Plant{}}
		m.store = mustOpen(t, m.open)
		defer func() { mustClose(t, m.store) }()
		r.Repeat(map[string]func(*rapid.T){
			"create": func(r *rapid.T) { m.create(r, ids.Draw(r, "id"), plants.Draw(r, "plant")) },
			"get":    func(r *rapid.T) { m.get(r, ids.Draw(r, "id")) },
			"list":   func(r *rapid.T) { m.list(r, ids.Draw(r, "from")) },
			"reopen": m.reopen,
		})
	})
}

// plants returns a generator of whole plants, with all fields that a plant has. They repeat, so
// that equal plants occur.
func plants() *rapid.Generator[models.Plant] {
	return rapid.OneOf(rapid.SampledFrom([]models.Plant{{}, {Name: "a"}, {Name: "a", Tag: new("")}}), rapid.Make[models.Plant]())
}

// A machine applies the same operations to a store and a map, and compares them.
type machine struct {
	t     *testing.T
	open  Open
	store Store
	model map[int64]models.Plant
}

func (m *machine) create(r *rapid.T, id int64, plant models.Plant) {
	err := m.store.Create(m.t.Context(), id, plant)
	stored, taken := m.model[id]
	if !taken {
		m.model[id] = plant
		if err != nil {
			r.Fatalf("Create(%d): %v", id, err)
		}
		return
	}
	want := &storage.ExistsError{Stored: stored, Identical: stored.Equal(plant)}
	if diff := gocmp.Diff(error(want), err); diff != "" {
		r.Fatalf("Create(%d) (-want +got):\n%s", id, diff)
	}
}

func (m *machine) get(r *rapid.T, id int64) {
	want, stored := m.model[id]
	got, err := m.store.Get(m.t.Context(), id)
	if stored != (err == nil) {
		r.Fatalf("Get(%d): %v, stored: %v", id, err, stored)
	}
	wantSame(r, fmt.Sprintf("Get(%d)", id), got, want)
}

func (m *machine) list(r *rapid.T, from int64) {
	var want []storage.Record
	for _, id := range slices.SortedFunc(maps.Keys(m.model), cmp.Compare[int64]) {
		if id >= from {
			want = append(want, storage.Record{ID: id, Plant: m.model[id]})
		}
	}
	wantSame(r, fmt.Sprintf("List(%d)", from), mustList(m.t, m.store, from), want)
	wantSame(r, fmt.Sprintf("ListDescending(%d)", from), mustCollect(m.t, m.store.ListDescending(m.t.Context(), from)), m.below(from))
}

// below returns what ListDescending from an id should yield.
func (m *machine) below(from int64) (want []storage.Record) {
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(m.model))) {
		if id <= from {
			want = append(want, storage.Record{ID: id, Plant: m.model[id]})
		}
	}
	return want
}

// wantSame compares all fields of plants, also those that their Equal does not know.
func wantSame(r *rapid.T, what string, got, want any) {
	if !reflect.DeepEqual(got, want) {
		r.Fatalf("%s = %+v, want %+v: %s", what, got, want, gocmp.Diff(want, got))
	}
}

func (m *machine) reopen(*rapid.T) {
	mustClose(m.t, m.store)
	m.store = mustOpen(m.t, m.open)
}
