package engines

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

// TestBrowse checks that the page of plantstore plants browse shows the plants of each engine.
func TestBrowse(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	for id := range 3000 {
		fmt.Fprintf(&lines, `{"id":%d,"name":"plant %d"}`+"\n", id*id, id)
	}
	for name, url := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fill := plantstore.Command(t, t.TempDir(), nil, "plants", "import", "--quiet", "--storage-url", url, "-")
			fill.Stdin = bytes.NewReader(lines.Bytes())
			if out, err := fill.CombinedOutput(); err != nil {
				t.Fatalf("import: %v\n%s", err, out)
			}
			b := plantstore.Browse(t, t.TempDir(), "--storage-url", url)
			for path, want := range map[string][]string{
				"api/plants?through=9223372036854775807": {`{"plants":[{"id":"8702500",`, `{"id":"8994001","name":{"text":"plant 2999"}}],"before":true,"after":false}`},
				"api/plants?through=8702499":             {`{"plants":[{"id":"8410000",`, `{"id":"8696601","name":{"text":"plant 2949"}}],"before":true,"after":true}`},
				"api/plants":                             {`{"plants":[{"id":"0",`, `{"id":"2401","name":{"text":"plant 49"}}],"before":false,"after":true}`},
				"api/search?name=PLANT+2999":             {`{"plants":[{"id":"8994001",`, `"searched":3000}`},
			} {
				got := b.Get(path)
				if !strings.HasPrefix(got, want[0]) || !strings.HasSuffix(got, want[1]) {
					t.Errorf("%s: %s, want %s…%s", path, got, want[0], want[1])
				}
			}
			source := "cluster"
			if name == "bbolt" {
				source = "file"
			}
			for status := ""; !strings.Contains(status, `"plants":3000}]`); { // counting takes a while
				if status = b.Get("api/status"); strings.Contains(status, `"error"`) {
					t.Fatalf("status: %s", status)
				}
				if strings.Contains(status, `"source"`) && !strings.Contains(status, `"source":"`+source+`"`) {
					t.Fatalf("status: %s, want %s", status, source)
				}
			}
		})
	}
}
