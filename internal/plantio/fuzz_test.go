package plantio_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/plantio"
	"plantstore/models"
	"plantstore/storage"
)

// FuzzRead reads arbitrary files in both formats. Reading must end, and the plants must
// survive a round trip in either format.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", "{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":\"b\",\"tag\":\"\"}", "id,name,tag\n1,a,\n2,\"\"\"b\\u0000\"\"\",\"\"\"\"\"\"\n",
		"\ufeffname,id\r\n=1+1,1e2\r\n", "id,id\n", "{", "id,name\n1,\"", "nul\n\n[]\n", "id,name\n1,\xff\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		formats := []plantio.Format{plantio.JSONLines, plantio.CSV}
		for _, format := range formats {
			records := readAll(t, text, format)
			for _, through := range formats {
				var file bytes.Buffer
				w := plantio.NewWriter(&file, through)
				for _, r := range records {
					if err := w.Write(r); err != nil {
						t.Fatalf("%+v is not written: %v", r, err)
					}
				}
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(records, readAll(t, file.Bytes(), through)); diff != "" {
					t.Errorf("through %q (-read +read again):\n%s", &file, diff)
				}
			}
		}
	})
}

// readAll returns the plants in a file, without bad lines.
func readAll(t *testing.T, text []byte, format plantio.Format) (records []storage.Record) {
	t.Helper()
	in := plantio.NewReader(bytes.NewReader(text), format, models.Limits{BodyBytes: int64(len(text) + 1000)})
	for range len(text) + 3 {
		record, _, err := in.Read()
		var bad *plantio.LineError
		switch {
		case errors.As(err, &bad):
			continue
		case errors.Is(err, io.EOF):
			return records
		case err != nil: // the rest has no row boundaries
			return records
		}
		records = append(records, record)
	}
	t.Fatalf("reading %q does not end", text)
	return nil
}
