package plantio_test

import (
	"compress/gzip"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/must"
	"plantstore/internal/plantio"
)

// A givenFile is a file as people have it, and what is read from it.
type givenFile struct {
	text string
	ids  string
	bad  []string // lines, or the reason why the file is refused
}

// encode returns text in UTF-16.
func encode(text string, high, low int) string {
	var encoded strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		for _, shift := range []int{high, low} {
			encoded.WriteByte(byte(unit >> shift))
		}
	}
	return encoded.String()
}

// compress returns text compressed with gzip.
func compress(t *testing.T, text string) string {
	t.Helper()
	var compressed strings.Builder
	w := gzip.NewWriter(&compressed)
	must.Get(w.Write([]byte(text)))(t)
	must.Do(t, w.Close())
	return compressed.String()
}

// givenFiles returns files by name.
func givenFiles(t *testing.T) map[string]givenFile {
	t.Helper()
	const (
		csv    = "id,name,tag\n1,Ficus,tree\n2,Fern,\n"
		lines  = "{\"id\":1,\"name\":\"Ficus\"}\r\n{\"id\":2,\"name\":\"Fern\"}\r\n"
		array  = "[\n  {\n    \"id\": 1,\n    \"name\": \"Ficus\"\n  },\n  {\"id\": 2, \"name\": \"Fern\"}\n]\n"
		to     = " >plants.jsonl, and use that file"
		toCSV  = " >plants.csv, and use that file"
		cr     = `ends its lines with CR alone: run tr '\r' '\n' <FILE`
		zipped = "is compressed with gzip: run zcat FILE"
		header = "line 1: must name the columns id, name and tag, each once, but is "
		zip    = "is a zip archive or a spreadsheet: unpack it, or save the spreadsheet as UTF-8 CSV with commas"
		server = "has its plants in the array plants of an object: run jq -c '.plants[]' FILE" + to
		binary = "is a binary file: save a spreadsheet as UTF-8 CSV with commas, and a database with plantstore plants export"
	)
	refused := func(text, reason string) givenFile { return givenFile{text, "", []string{"format: " + reason}} }
	inUTF16 := func(text, name, to string) givenFile {
		return refused(text, "is in "+name+": save it as UTF-8, or run iconv -f "+name+" -t UTF-8 FILE"+to)
	}
	photos := `{"photos":[{"url":"a"}` + strings.Repeat(`,{"url":"https://a.example/"}`, 200) + `],"name":"a","id":`
	return map[string]givenFile{
		"bom-quoted.csv":   {"\ufeff\"id\",\"name\",\"tag\"\r\n\"1\",\"Ficus\",\"tree\"\r\n", "1", nil},
		"bom.jsonl":        {"\ufeff" + lines, "1 2", nil},
		"bom.json":         {"\ufeff" + array, "1 2", nil},
		"array.json":       {array, "1 2", nil},
		"old-array.json":   {strings.ReplaceAll(array, "\n", "\r"), "1 2", nil},
		"bad-elements.csv": refused(array, header+`"["`),
		"bad-elements.json": {`[{"id":1,"name":"a"},{"id":1,"name":"b"},{},` + "\n" + `{"id":2.5,"name":"c"},]`, "1 1", []string{
			"line 1: element 3: id: is required; name: is required",
			"line 2: element 4: id: must be an integer, not a number with a fraction",
			"line 2: element 5: is empty; send a NewPlant as JSON",
		}},
		"lines.json":       {lines, "1 2", nil},
		"semicolons.CSV":   refused("id;name\n1;Ficus\n", "has semicolons between its columns: save it as CSV with commas"),
		"quoted.csv":       refused(`"id";"name";"in, out"`+"\r\n", "has semicolons between its columns: save it as CSV with commas"),
		"tabs.csv":         refused("id\tname\n1\tFicus\n", "has tabs between its columns: save it as CSV with commas"),
		"sep.csv":          refused("sep=,\r\nid,name\r\n1,Ficus\r\n", `begins with "sep=,", which only a spreadsheet understands: delete that line, and save the file with commas`),
		"utf16le.csv":      inUTF16("\xff\xfe"+encode(csv, 0, 8), "UTF-16LE", toCSV),
		"utf16be.csv":      inUTF16("\xfe\xff"+encode(csv, 8, 0), "UTF-16BE", toCSV),
		"utf16le.jsonl":    inUTF16(encode(lines, 0, 8), "UTF-16LE", to),
		"utf16be.json":     inUTF16(encode(array, 8, 0), "UTF-16BE", to),
		"plants.csv.gz":    refused(compress(t, csv), zipped+toCSV),
		"plants.jsonl.gz":  refused(compress(t, lines), zipped+to),
		"plants.xlsx":      refused("PK\x03\x04\x14\x00\x00\x00", zip),
		"plants.xls":       refused("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00\x00\x00", binary),
		"zeros.csv":        refused(strings.Repeat("\x00", 10_000), binary),
		"cr.csv":           refused("id,name,tag\r1,Ficus,tree\r2,Fern,\r", cr+toCSV),
		"cr.jsonl":         refused(strings.ReplaceAll(lines, "\r\n", "\r"), cr+to),
		"twice.csv":        refused("id,name\r\r\n1,Ficus\r\r\n", cr+toCSV),
		"no-header.csv":    refused("1,Ficus\nid,name\n2,Fern\n", header+`"1,Ficus"`),
		"bad-header.csv":   refused("id,na\"me\nid,name\n2,Fern\n", header+`"id,na\"me"`),
		"open-header.csv":  refused("\"id,name\n1,Ficus\n", header+`"\"id,name"`),
		"endless.csv":      refused("\"id,name\n"+strings.Repeat("x", 2<<20), header+`"\"id,name"`),
		"only-bom.csv":     refused("\ufeff", "the file is empty: its first line must name the columns id, name and tag"),
		"csv.txt":          refused(csv, `begins with "id,name,tag", not with { or [, so it is not JSON: if it is CSV, use --format csv, or a name that ends in .csv`),
		"trailing.json":    {`[{"id":1,"name":"a"}] x`, "1", []string{"final: line 1: the file continues after the end of its array"}},
		"json-server.json": refused(`{"plants":[{"id":7001,"name":"a"}]}`, server),
		"photos.json":      {photos + "7}\n{}", "7", []string{"line 2: id: is required; name: is required"}},
		"photos-only.json": {photos + "7}", "7", nil},
		"big-server.json":  refused(photos+`7,"tag":1}`, strings.NewReplacer("array plants", "array photos", ".plants", ".photos").Replace(server)),
		"spaced.json":      refused("\n{\n  \"plants\" : [\n    {\n      \"id\": 1", server),
		"number.json":      refused("1.0", `begins with "1.0", not with { or [, so it is not JSON: if it is CSV, use --format csv, or a name that ends in .csv`),
		"many-lines.json":  refused("{\n  \"id\": 1,\n  \"name\": \"Ficus\"\n}\n", "has a plant that spans lines: write each plant on one line, such as with jq -c . FILE, or all plants into an array"),
	}
}

// TestGivenFiles checks what is read from files as spreadsheets, shells and data sets write them. A file that is
// not in its format is refused before any plant.
func TestGivenFiles(t *testing.T) {
	t.Parallel()
	for name, file := range givenFiles(t) {
		records, bad := read(t, plantio.FormatOf(name), file.text)
		var ids []string
		for _, record := range records {
			ids = append(ids, fmt.Sprint(record.ID))
		}
		if diff := cmp.Diff(file.bad, bad); diff != "" || strings.Join(ids, " ") != file.ids {
			t.Errorf("%s: the plants %v, want %s; bad lines (-want +got):\n%s", name, ids, file.ids, diff)
		}
	}
}
