package plantio_test

import (
	"os"
	"testing"

	"plantstore/internal/must"
	"plantstore/internal/plantio"
)

// TestSamples checks that the sample file has a hundred different plants in the canonical form
// of exports. Their ids are none that the examples of the documents create.
func TestSamples(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("../../docs/samples/plants.jsonl"))(t)
	records, bad := read(t, plantio.JSONLines, string(text))
	names := map[string]bool{}
	for i, r := range records {
		names[r.Plant.Name] = true
		if r.ID != int64(1001+i) || r.Plant.Tag == nil {
			t.Errorf("line %d: %+v", i+1, r)
		}
	}
	if len(records) != 100 || len(names) != 100 || bad != nil {
		t.Errorf("there are %d plants with %d names, want 100, and the bad lines %v", len(records), len(names), bad)
	}
	if write(t, plantio.JSONLines, records) != string(text) {
		t.Error("an export would look different")
	}
}
