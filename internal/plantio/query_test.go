package plantio_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/plantio"
	"plantstore/models"
	"plantstore/storage"
)

// A list is a [plantio.Lister] of records in order, which ends with an error, if any.
type list struct {
	records []storage.Record
	err     error
}

func (l list) List(_ context.Context, from int64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		for _, r := range l.records {
			if r.ID >= from && !yield(r, nil) {
				return
			}
		}
		if l.err != nil {
			yield(storage.Record{}, l.err)
		}
	}
}

// plants returns plants with the ids -2 to 3. Plants with an even id have the tag "even".
func plants() (records []storage.Record) {
	for id := int64(-2); id <= 3; id++ {
		record := storage.Record{ID: id, Plant: models.Plant{Name: "a"}}
		if id%2 == 0 {
			record.Plant.Tag = new("even")
		}
		records = append(records, record)
	}
	return records
}

func TestQuery(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		query plantio.Query
		want  []int64
	}{
		"all":             {plantio.Query{}, []int64{-2, -1, 0, 1, 2, 3}},
		"after":           {plantio.Query{After: new(int64(0))}, []int64{1, 2, 3}},
		"after a gap":     {plantio.Query{After: new(int64(-9))}, []int64{-2, -1, 0, 1, 2, 3}},
		"after the last":  {plantio.Query{After: new(int64(9223372036854775807))}, nil},
		"limit":           {plantio.Query{Limit: new(int64(2))}, []int64{-2, -1}},
		"no plants":       {plantio.Query{Limit: new(int64(0))}, nil},
		"tag":             {plantio.Query{Tag: new("even")}, []int64{-2, 0, 2}},
		"empty tag":       {plantio.Query{Tag: new("")}, nil},
		"all of them":     {plantio.Query{After: new(int64(-2)), Tag: new("even"), Limit: new(int64(1))}, []int64{0}},
		"limit not found": {plantio.Query{Limit: new(int64(100)), Tag: new("odd")}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := tt.query.Source(list{records: plants()})
			for range 2 { // a source may be used again
				var got []int64
				err := source(t.Context(), func(r storage.Record) error { got = append(got, r.ID); return nil })
				if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			}
		})
	}
}

// TestExport checks that an export ends with the first error of its source and reports
// progress.
func TestExport(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	out := plantio.NewWriter(&text, plantio.JSONLines)
	broken := errors.New("disk is broken")
	n, err := plantio.Export(t.Context(), plantio.Query{}.Source(list{plants(), broken}), out, func(int64) { t.Error("progress") })
	if n != 6 || !errors.Is(err, broken) {
		t.Errorf("Export = %d, %v", n, err)
	}
	many := make([]storage.Record, 2500)
	var reported []int64
	n, err = plantio.Export(t.Context(), plantio.Query{}.Source(list{records: many}), out, func(n int64) { reported = append(reported, n) })
	if diff := cmp.Diff([]int64{1000, 2000}, reported); diff != "" || n != 2500 || err != nil {
		t.Errorf("Export = %d, %v; progress (-want +got):\n%s", n, err, diff)
	}
	if lines := strings.Count(text.String(), "\n"); lines != 2506 {
		t.Errorf("%d lines, want 2506", lines)
	}
}
