package e2e

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
				"api/plants":              {`{"plants":[{"id":"0",`, `{"id":"2401","name":{"text":"plant 49"}}],"searched":50,"next":"2500"}`},
				"api/plants?from=8702499": {`{"plants":[{"id":"8702500",`, `{"id":"8994001","name":{"text":"plant 2999"}}],"searched":50}`},
				"api/plants?name=PLANT+9": {`{"plants":[{"id":"81",`, `,"next":"881721"}`},
				"api/highest":             {`{"id":"8994001"`, `}`},
				"api/count":               {`{"place":"`, `","plants":3000}`},
			} {
				got := b.Get(path)
				if !strings.HasPrefix(got, want[0]) || !strings.HasSuffix(got, want[1]) {
					t.Errorf("%s: %s, want %s…%s", path, got, want[0], want[1])
				}
			}
		})
	}
}
