package plantio_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/plantio"
	"plantstore/storage"
)

// importPlants imports JSON Lines or an array. It returns the bad lines, and the error as it ends.
func importPlants(
	ctx context.Context, in io.Reader, skipConflicts bool, create func([]storage.Record) []error,
) (bad []string, sum plantio.Summary, err error) {
	i := plantio.Importer{
		SkipConflicts: skipConflicts,
		Create:        func(_ context.Context, records []storage.Record) []error { return create(records) },
		Bad:           func(e *plantio.LineError) error { bad = append(bad, e.Error()); return nil },
	}
	err = i.Import(ctx, plantio.NewReader(in, plantio.JSONLines, maxBytes))
	return bad, i.Summary, err
}

// TestImport checks that an import of several batches reports bad lines in order and counts all outcomes.
func TestImport(t *testing.T) {
	t.Parallel()
	const lines = 20_000
	var text strings.Builder
	var wantBad, wantBadSkipping []string
	for i := range lines {
		line, conflict, other := fmt.Sprintf(`{"id":%d,"name":"a"}`, i), "", ""
		switch i % 100 {
		case 2:
			conflict = fmt.Sprintf("line %d: id: %d is taken by a different plant", i+1, i)
		case 3:
			other = fmt.Sprintf("line %d: id: %d is taken by a corrupt record: stop the server and run plantstore check", i+1, i)
		case 7:
			line, other = "{}", fmt.Sprintf("line %d: id: is required; name: is required", i+1)
		}
		fmt.Fprintln(&text, line)
		if other != "" {
			wantBadSkipping = append(wantBadSkipping, other)
		}
		if conflict+other != "" {
			wantBad = append(wantBad, conflict+other)
		}
	}
	create := func(records []storage.Record) []error { // three ids in a hundred are taken
		outcomes := make([]error, len(records))
		for i, r := range records {
			outcomes[i] = map[int64]error{
				1: &storage.ExistsError{Identical: true}, 2: &storage.ExistsError{}, 3: &storage.CorruptError{ID: r.ID, Err: storage.ErrCorrupt},
			}[r.ID%100]
		}
		return outcomes
	}
	const part = lines / 100
	bad, sum, err := importPlants(t.Context(), strings.NewReader(text.String()), false, create)
	want := plantio.Summary{Created: 96 * part, Identical: part, Bad: 3 * part, Conflicts: part}
	if diff := cmp.Diff(want, sum) + cmp.Diff(wantBad, bad); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%.1000s", err, diff)
	}
	bad, sum, err = importPlants(t.Context(), strings.NewReader(text.String()), true, create)
	want = plantio.Summary{Created: 96 * part, Identical: part, Bad: 2 * part, Skipped: part}
	if diff := cmp.Diff(want, sum) + cmp.Diff(wantBadSkipping, bad); diff != "" || err != nil {
		t.Errorf("skipping conflicts: %v (-want +got):\n%.1000s", err, diff)
	}
}

// TestImportOfArray checks that bad elements are reported in order and by number, even if they are on
// one line.
func TestImportOfArray(t *testing.T) {
	t.Parallel()
	text := `[{"id":1,"name":"a"},{},{"id":2,"name":"b"},{}]`
	bad, _, err := importPlants(t.Context(), strings.NewReader(text), false, func([]storage.Record) []error {
		return []error{&storage.ExistsError{}, &storage.ExistsError{}}
	})
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

// TestImportSorts checks that plants are stored in ascending order of their ids whatever their order in the file,
// the first of an id before the others, and that bad lines are reported in the order of the file.
func TestImportSorts(t *testing.T) {
	t.Parallel()
	const lines = 40_000 // several batches
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "{\"id\":%d,\"name\":\"%d\"}\n", i*7919%(lines/2), i) // each id twice, scattered
	}
	var stored []storage.Record
	calls := 0
	bad, sum, err := importPlants(t.Context(), strings.NewReader(text.String()), false, func(records []storage.Record) []error {
		calls++
		outcomes := make([]error, len(records))
		for i, r := range records {
			if last := len(stored) - 1; last >= 0 && stored[last].ID == r.ID {
				outcomes[i] = &storage.ExistsError{}
				continue
			}
			stored = append(stored, r)
		}
		return outcomes
	})
	if err != nil || sum != (plantio.Summary{Created: lines / 2, Bad: lines / 2, Conflicts: lines / 2}) || calls < 3 || len(stored) != lines/2 {
		t.Fatalf("%+v, %v, %d plants in %d batches", sum, err, len(stored), calls)
	}
	for i, r := range stored {
		if line, _ := strconv.Atoi(r.Plant.Name); r.ID != int64(i) || line >= lines/2 {
			t.Fatalf("plant %d has the id %d and is of line %d", i, r.ID, line+1)
		}
	}
	for i, got := range bad {
		if want := fmt.Sprintf("line %d: ", lines/2+i+1); !strings.HasPrefix(got, want) {
			t.Fatalf("bad line %d: %s, want %s", i, got, want)
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

// TestImportMeetsFault checks that an import ends at the first error of the store and returns
// the counts so far.
func TestImportMeetsFault(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("{\"id\":1,\"name\":\"a\"}\n", 20_000) // two batches
	stored := int64(0)
	_, sum, err := importPlants(t.Context(), strings.NewReader(text), false, func(records []storage.Record) []error {
		outcomes := make([]error, len(records))
		if stored > 0 {
			outcomes[0] = storage.ErrNoSpace
			outcomes[1] = errors.New("a later one")
			return outcomes[:2]
		}
		stored = int64(len(records))
		return outcomes
	})
	want := fmt.Sprintf("line %d: %v", stored+1, storage.ErrNoSpace)
	if !errors.Is(err, storage.ErrNoSpace) || err.Error() != want || sum != (plantio.Summary{Created: stored}) {
		t.Errorf("Import: %+v and %v, want %d created and %s", sum, err, stored, want)
	}
}

// TestImportInterrupted checks that an interrupted import keeps the stored plants, whether or
// not the reader blocks.
func TestImportInterrupted(t *testing.T) {
	t.Parallel()
	var first strings.Builder // more than a batch
	for id := range 20_000 {
		fmt.Fprintf(&first, "{\"id\":%d,\"name\":\"a\"}\n", id)
	}
	blocked, unblock := io.Pipe()
	defer func() { _ = unblock.Close() }()
	for name, more := range map[string]io.Reader{"endless": repeat("{\"id\":1,\"name\":\"a\"}\n"), "blocked": blocked} {
		ctx, cancel := context.WithCancel(t.Context())
		in := io.MultiReader(strings.NewReader(first.String()), reading(func(p []byte) (int, error) {
			if err := ctx.Err(); err != nil { // nobody waits for what the import still reads
				return 0, err
			}
			return more.Read(p)
		}))
		_, sum, err := importPlants(ctx, in, false, func(records []storage.Record) []error {
			cancel()
			return make([]error, len(records))
		})
		if !errors.Is(err, context.Canceled) || sum.Created == 0 {
			t.Errorf("%s: Import: %+v, %v, want: %v", name, sum, err, context.Canceled)
		}
	}
}

// A reading is a reader.
type reading func(p []byte) (int, error)

func (r reading) Read(p []byte) (int, error) { return r(p) }

// TestImportWithoutReport checks that an import ends when nobody reads its report.
func TestImportWithoutReport(t *testing.T) {
	t.Parallel()
	full := errors.New("nobody reads the report")
	i := plantio.Importer{Bad: func(*plantio.LineError) error { return full }}
	err := i.Import(t.Context(), plantio.NewReader(strings.NewReader("{}"), plantio.JSONLines, maxBytes))
	if !errors.Is(err, full) {
		t.Errorf("Import: %v, want: %v", err, full)
	}
}
