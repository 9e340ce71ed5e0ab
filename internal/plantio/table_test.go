package plantio_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/must"
	"plantstore/internal/plantio"
	"plantstore/models"
	"plantstore/storage"
)

// TestTable checks that columns are aligned as terminals show them, and that lines fit into the width of a terminal.
func TestTable(t *testing.T) {
	t.Parallel()
	tag, long := "tree", "a tag that is rather long"
	records := []storage.Record{
		{ID: 1, Plant: models.Plant{Name: "Ficus", Tag: &tag}},
		{ID: -22, Plant: models.Plant{Name: "🌵🌵🌵🌵🌵🌵🌵🌵 " + strings.Repeat("x", 800), Tag: &long}},
		{ID: 3, Plant: models.Plant{Name: "سرخس"}},
		{ID: 4, Plant: models.Plant{Name: "桜桜桜桜桜桜桜桜桜桜e\u0301", Tag: new(string)}},
	}
	for width, want := range map[int]string{
		0: "ID   NAME" + strings.Repeat(" ", 815) + "TAG\n1    Ficus" + strings.Repeat(" ", 814) + "tree\n-22  " + records[1].Plant.Name + "  " + long +
			"\n3    سرخس\n4    桜桜桜桜桜桜桜桜桜桜e\u0301" + strings.Repeat(" ", 798) + "\"\"\n",
		40: "ID   NAME              TAG\n" +
			"1    Ficus             tree\n" +
			"-22  🌵🌵🌵🌵🌵🌵🌵…   a tag that is ra…\n" +
			"3    سرخس\n" +
			"4    桜桜桜桜桜桜桜…   \"\"\n",
	} {
		var text strings.Builder
		out := plantio.NewTable(&text, width)
		for _, record := range records {
			must.Do(t, out.Write(record))
		}
		must.Do(t, out.Flush())
		if diff := cmp.Diff(want, text.String()); diff != "" {
			t.Errorf("in %d columns (-want +got):\n%s", width, diff)
		}
	}
	var text strings.Builder
	if must.Do(t, plantio.NewTable(&text, 80).Flush()); text.Len() > 0 {
		t.Errorf("without plants: %q", &text)
	}
}
