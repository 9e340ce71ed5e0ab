package plantio_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/plantio"
	"plantstore/storage"
)

// TestImport checks that an import reports bad lines in order and counts all outcomes.
func TestImport(t *testing.T) {
	t.Parallel()
	const lines = 40_000
	var text strings.Builder
	for i := range lines {
		if i%100 == 7 {
			fmt.Fprintln(&text, "{}")
			continue
		}
		fmt.Fprintf(&text, "{\"id\":%d,\"name\":\"a\"}\n", i)
	}
	outcome := func(id int64) error { // three ids in a hundred are taken
		switch id % 100 {
		case 1:
			return &storage.ExistsError{Identical: true}
		case 2:
			return &storage.ExistsError{}
		case 3:
			return &storage.CorruptError{ID: id, Err: storage.ErrCorrupt}
		}
		return nil
	}
	for _, skip := range []bool{false, true} {
		var bad []int
		var sum plantio.Summary
		err := plantio.Import(t.Context(), plantio.NewReader(strings.NewReader(text.String()), plantio.JSONLines, maxBytes()), plantio.Options{
			SkipConflicts: skip,
			Create: func(_ context.Context, records []storage.Record) []error {
				outcomes := make([]error, len(records))
				for i, r := range records {
					outcomes[i] = outcome(r.ID)
				}
				return outcomes
			},
			Bad: func(e *plantio.LineError) error { bad = append(bad, e.Line); return nil },
		}, &sum)
		want := plantio.Summary{Created: lines * 96 / 100, Identical: lines / 100, Bad: lines * 3 / 100, Conflicts: lines / 100}
		perHundred := []int{3, 4, 8} // of ids 2 and 3, and the empty one
		if skip {
			want.Bad, want.Conflicts, want.Skipped, perHundred = lines*2/100, 0, lines/100, []int{4, 8}
		}
		if diff := cmp.Diff(want, sum); diff != "" || err != nil {
			t.Errorf("skip %v: %v (-want +got):\n%s", skip, err, diff)
		}
		var wantBad []int
		for hundred := 0; hundred < lines; hundred += 100 {
			for _, line := range perHundred {
				wantBad = append(wantBad, hundred+line)
			}
		}
		if diff := cmp.Diff(wantBad, bad); diff != "" {
			t.Errorf("skip %v: bad lines (-want +got):\n%.500s", skip, diff)
		}
	}
}

// TestImportOfArray checks that bad elements are reported in order and by number, even if they are on
// one line.
func TestImportOfArray(t *testing.T) {
	t.Parallel()
	var bad []string
	var sum plantio.Summary
	text := `[{"id":1,"name":"a"},{},{"id":2,"name":"b"},{}]`
	err := plantio.Import(t.Context(), plantio.NewReader(strings.NewReader(text), plantio.JSONLines, maxBytes()), plantio.Options{
		Create: func(context.Context, []storage.Record) []error {
			return []error{&storage.ExistsError{}, &storage.ExistsError{}}
		},
		Bad: func(e *plantio.LineError) error { bad = append(bad, e.Error()); return nil },
	}, &sum)
	want := []string{
		"line 1: element 1: id: 1 is taken by a different plant",
		"line 1: element 2: id: is required; name: is required",
		"line 1: element 3: id: 2 is taken by a different plant",
		"line 1: element 4: id: is required; name: is required",
	}
	if diff := cmp.Diff(want, bad); diff != "" || err != nil {
		t.Errorf("%v; bad elements (-want +got):\n%s", err, diff)
	}
}

// TestImportMeetsFault checks that an import ends at the first error of the store and returns
// the counts so far.
func TestImportMeetsFault(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text, "{\"id\":%d,\"name\":\"a\"}\n", i)
	}
	stored := int64(0)
	var sum plantio.Summary
	err := plantio.Import(t.Context(), plantio.NewReader(strings.NewReader(text.String()), plantio.JSONLines, maxBytes()), plantio.Options{
		Create: func(_ context.Context, records []storage.Record) []error {
			outcomes := make([]error, len(records))
			if stored > 0 {
				for i := range outcomes {
					outcomes[i] = storage.ErrNoSpace
				}
			} else {
				stored = int64(len(records))
			}
			return outcomes
		},
	}, &sum)
	want := fmt.Sprintf("line %d: %v", stored+1, storage.ErrNoSpace)
	if !errors.Is(err, storage.ErrNoSpace) || err.Error() != want || sum != (plantio.Summary{Created: stored}) {
		t.Errorf("Import: %+v and %v, want %d created and %s", sum, err, stored, want)
	}
}

// TestImportInterrupted checks that an interrupted import keeps the stored plants, whether or
// not the reader blocks.
func TestImportInterrupted(t *testing.T) {
	t.Parallel()
	const line = "{\"id\":1,\"name\":\"a\"}\n"
	blocked, unblock := io.Pipe()
	defer func() { _ = unblock.Close() }()
	for name, more := range map[string]io.Reader{"endless": repeat(line), "blocked": blocked} {
		ctx, cancel := context.WithCancel(t.Context())
		in := io.MultiReader(strings.NewReader(strings.Repeat(line, 20_000)), more)
		var sum plantio.Summary
		err := plantio.Import(ctx, plantio.NewReader(in, plantio.JSONLines, maxBytes()), plantio.Options{
			Create: func(_ context.Context, records []storage.Record) []error {
				cancel()
				return make([]error, len(records))
			},
		}, &sum)
		if !errors.Is(err, context.Canceled) || sum.Created == 0 {
			t.Errorf("%s: Import: %+v, %v, want: %v", name, sum, err, context.Canceled)
		}
	}
}

// repeat is an infinite reader of its text.
type repeat string

func (r repeat) Read(p []byte) (int, error) {
	n := 0
	for n+len(r) <= len(p) {
		n += copy(p[n:], r)
	}
	return n, nil
}

// TestImportMeetsOtherFaults checks that errors of Bad and of the reader are returned by
// Import.
func TestImportMeetsOtherFaults(t *testing.T) {
	t.Parallel()
	errFull := errors.New("nobody reads the report")
	options := plantio.Options{Bad: func(*plantio.LineError) error { return errFull }}
	if err := plantio.Import(t.Context(), plantio.NewReader(strings.NewReader("{}"), plantio.JSONLines, maxBytes()), options, new(plantio.Summary)); !errors.Is(err, errFull) {
		t.Errorf("Import: %v, want: %v", err, errFull)
	}
	if err := plantio.Import(t.Context(), plantio.NewReader(strings.NewReader(""), plantio.CSV, maxBytes()), options, new(plantio.Summary)); err == nil ||
		!strings.Contains(err.Error(), "the file is empty") {
		t.Errorf("Import: %v", err)
	}
}
