package plantio_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/plantio"
)

// FuzzRead reads arbitrary files as JSON Lines or an array, and as CSV. Reading must end, and the plants
// must survive a round trip in either format. An array has as many plants and bad elements as
// encoding/json finds.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", "{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":\"b\",\"tag\":\"\"}", "id,name,tag\n1,a,\n2,\"\"\"b\\u0000\"\"\",\"\"\"\"\"\"\n",
		"\ufeffname,id\r\n=1+1,1e2\r\n", "id,id\n", "{", "id,name\n1,\"", "{}\n\n[]\n", "id,name\n1,\xff\n",
		"[{\"id\":1,\"name\":\"]\\\"\"},\n{\"id\":2,\"x\":[{}]}, null]", "\ufeff[]", "[{]", "{\n", "id;name\n", "i\x00d\x00", "id,name\r1,a\r",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		formats := []plantio.Format{plantio.JSONLines, plantio.CSV}
		for _, format := range formats {
			records, bad := read(t, format, string(text))
			var elements []json.RawMessage
			if format == plantio.JSONLines && json.Unmarshal(text, &elements) == nil && len(elements) != len(records)+len(bad) {
				t.Errorf("the array has %d elements, but %d plants and %d bad ones were read", len(elements), len(records), len(bad))
			}
			for _, through := range formats {
				file := write(t, through, records)
				again, _ := read(t, through, file)
				if diff := cmp.Diff(records, again); diff != "" {
					t.Errorf("through %q (-read +read again):\n%s", file, diff)
				}
			}
		}
	})
}
