package plantio_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/must"
	"plantstore/internal/plantio"
	"plantstore/storage"
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
			records, bad := readAll(t, text, format)
			var elements []json.RawMessage
			if format == plantio.JSONLines && json.Unmarshal(text, &elements) == nil && len(elements) != len(records)+bad {
				t.Errorf("the array has %d elements, but %d plants and %d bad ones were read", len(elements), len(records), bad)
			}
			for _, through := range formats {
				var file bytes.Buffer
				w := plantio.NewWriter(&file, through)
				for _, r := range records {
					if err := w.Write(r); err != nil {
						t.Fatalf("%+v is not written: %v", r, err)
					}
				}
				must.Do(t, w.Flush())
				again, _ := readAll(t, file.Bytes(), through)
				if diff := cmp.Diff(records, again); diff != "" {
					t.Errorf("through %q (-read +read again):\n%s", &file, diff)
				}
			}
		}
	})
}

// readAll returns the plants in a file, and the number of bad lines.
func readAll(t *testing.T, text []byte, format plantio.Format) (records []storage.Record, bad int) {
	t.Helper()
	in := plantio.NewReader(bytes.NewReader(text), format, int64(len(text)+1000))
	for range len(text) + 3 {
		record, _, err := in.Read()
		switch {
		case errors.As(err, new(*plantio.LineError)):
			bad++
			continue
		case err != nil: // io.EOF, or the rest has no row boundaries
			return records, bad
		}
		records = append(records, record)
	}
	t.Fatalf("reading %q does not end", text)
	return nil, 0
}
