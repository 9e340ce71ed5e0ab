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

// importPlants imports JSON Lines or an array. It returns the bad lines, and the error as it ends.
func importPlants(
	ctx context.Context, in io.Reader, skipConflicts bool, create func([]storage.Record) []error,
) (bad []string, sum plantio.Summary, err error) {
	err = plantio.Import(ctx, plantio.NewReader(in, plantio.JSONLines, maxBytes), plantio.Options{
		SkipConflicts: skipConflicts,
		Create:        func(_ context.Context, records []storage.Record) []error { return create(records) },
		Bad:           func(e *plantio.LineError) error { bad = append(bad, e.Error()); return nil },
	}, &sum)
	return bad, sum, err
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
	line := `{"id":1,"name":"` + strings.Repeat("a", 1000) + "\"}\n"
	blocked, unblock := io.Pipe()
	defer func() { _ = unblock.Close() }()
	for name, more := range map[string]io.Reader{"endless": repeat(line), "blocked": blocked} {
		ctx, cancel := context.WithCancel(t.Context())
		in := io.MultiReader(strings.NewReader(strings.Repeat(line, 5000)), reading(func(p []byte) (int, error) {
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
	err := plantio.Import(t.Context(), plantio.NewReader(strings.NewReader("{}"), plantio.JSONLines, maxBytes), plantio.Options{
		Bad: func(*plantio.LineError) error { return full },
	}, new(plantio.Summary))
	if !errors.Is(err, full) {
		t.Errorf("Import: %v, want: %v", err, full)
	}
}
