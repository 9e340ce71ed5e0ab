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
	if len(records) != 100 || bad != nil {
		t.Errorf("there are %d plants, want 100, and the bad lines %v", len(records), bad)
	}
	names := map[string]bool{}
	for i, r := range records {
		if r.ID != int64(1001+i) || names[r.Plant.Name] || r.Plant.Tag == nil {
			t.Errorf("line %d: %+v", i+1, r)
		}
		names[r.Plant.Name] = true
	}
	if write(t, plantio.JSONLines, records) != string(text) {
		t.Error("an export would look different")
	}
}
