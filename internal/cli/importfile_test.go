package cli_test

import (
	"compress/gzip"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/must"
)

// A givenFile is a file as people have it, and how its import ends.
type givenFile struct {
	text string
	ids  string // that are stored
	code int
	// lines are the bad lines, after the file name, or the reason why the file is refused.
	lines []string
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
		pipe   = " | plantstore plants import -"
		asCSV  = " | plantstore plants import --format csv -"
		cr     = `ends its lines with CR alone: run tr '\r' '\n' <FILE`
		zipped = "is compressed with gzip: run zcat FILE"
		header = "line 1: must name the columns id, name and tag, each once, but is "
		zip    = "is a zip archive or a spreadsheet: unpack it, or save the spreadsheet as UTF-8 CSV with commas"
		binary = "is a binary file: save a spreadsheet as UTF-8 CSV with commas, and a database with plantstore plants export"
	)
	refused := func(text, reason string) givenFile { return givenFile{text, "", 2, []string{reason}} }
	inUTF16 := func(text, name, pipe string) givenFile {
		return refused(text, "is in "+name+": save it as UTF-8, or run iconv -f "+name+" -t UTF-8 FILE"+pipe)
	}
	return map[string]givenFile{
		"bom-quoted.csv":   {"\ufeff\"id\",\"name\",\"tag\"\r\n\"1\",\"Ficus\",\"tree\"\r\n", "1", 0, nil},
		"bom.jsonl":        {"\ufeff" + lines, "1 2", 0, nil},
		"bom.json":         {"\ufeff" + array, "1 2", 0, nil},
		"array.json":       {array, "1 2", 0, nil},
		"old-array.json":   {strings.ReplaceAll(array, "\n", "\r"), "1 2", 0, nil},
		"bad-elements.csv": refused(array, header+`"["`),
		"bad-elements.json": {`[{"id":1,"name":"a"},{"id":1,"name":"b"},{},` + "\n" + `{"id":2.5,"name":"c"},]`, "1", 3, []string{
			":1: element 3: id: is required; name: is required",
			":2: element 4: id: must be an integer, not a number with a fraction",
			":2: element 5: is empty; send a NewPlant as JSON",
		}},
		"lines.json":      {lines, "1 2", 0, nil},
		"semicolons.CSV":  refused("id;name\n1;Ficus\n", "has semicolons between its columns: save it as CSV with commas"),
		"quoted.csv":      refused(`"id";"name";"in, out"`+"\r\n", "has semicolons between its columns: save it as CSV with commas"),
		"tabs.csv":        refused("id\tname\n1\tFicus\n", "has tabs between its columns: save it as CSV with commas"),
		"sep.csv":         refused("sep=,\r\nid,name\r\n1,Ficus\r\n", `begins with "sep=,", which only a spreadsheet understands: delete that line, and save the file with commas`),
		"utf16le.csv":     inUTF16("\xff\xfe"+encode(csv, 0, 8), "UTF-16LE", asCSV),
		"utf16be.csv":     inUTF16("\xfe\xff"+encode(csv, 8, 0), "UTF-16BE", asCSV),
		"utf16le.jsonl":   inUTF16(encode(lines, 0, 8), "UTF-16LE", pipe),
		"utf16be.json":    inUTF16(encode(array, 8, 0), "UTF-16BE", pipe),
		"plants.csv.gz":   refused(compress(t, csv), zipped+asCSV),
		"plants.jsonl.gz": refused(compress(t, lines), zipped+pipe),
		"plants.xlsx":     refused("PK\x03\x04\x14\x00\x00\x00", zip),
		"plants.xls":      refused("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00\x00\x00", binary),
		"zeros.csv":       refused(strings.Repeat("\x00", 10_000), binary),
		"cr.csv":          refused("id,name,tag\r1,Ficus,tree\r2,Fern,\r", cr+asCSV),
		"cr.jsonl":        refused(strings.ReplaceAll(lines, "\r\n", "\r"), cr+pipe),
		"twice.csv":       refused("id,name\r\r\n1,Ficus\r\r\n", cr+asCSV),
		"no-header.csv":   refused("1,Ficus\nid,name\n2,Fern\n", header+`"1,Ficus"`),
		"bad-header.csv":  refused("id,na\"me\nid,name\n2,Fern\n", header+`"id,na\"me"`),
		"open-header.csv": refused("\"id,name\n1,Ficus\n", header+`"\"id,name"`),
		"endless.csv":     refused("\"id,name\n"+strings.Repeat("x", 2<<20), header+`"\"id,name"`),
		"only-bom.csv":    refused("\ufeff", "the file is empty: its first line must name the columns id, name and tag"),
		"csv.txt":         refused(csv, `begins with "id,name,tag", not with { or [, so it is not JSON: name a CSV file .csv, or import it with --format csv`),
		"many-lines.json": refused("{\n  \"id\": 1,\n  \"name\": \"Ficus\"\n}\n", "has a plant that spans lines: write each plant on one line, such as with jq -c . FILE, or all plants into an array"),
	}
}

// check checks how the import of the file under a name ended.
func (f givenFile) check(t *testing.T, name string, r result) {
	t.Helper()
	want := ""
	for _, line := range f.lines {
		if f.code == 2 {
			line = "plantstore: import " + name + ": " + line + "; 0 plants were stored"
		} else {
			line = name + line
		}
		want += line + "\n"
	}
	got := r.stderr
	if f.code == 3 {
		got, _, _ = strings.Cut(got, "plantstore: ") // the last line counts the bad ones
	}
	if diff := cmp.Diff(want, got); diff != "" || r.code != f.code || r.stdout != "" {
		t.Errorf("exit code %d, want %d; stdout %q; stderr (-want +got):\n%s", r.code, f.code, r.stdout, diff)
	}
}

// TestImportOfGivenFiles checks the import of files as spreadsheets, shells and data sets write them, and that
// a dry run from stdin reports the same.
func TestImportOfGivenFiles(t *testing.T) {
	for name, file := range givenFiles(t) {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			writeFile(t, name, file.text)
			format := "json"
			if strings.Contains(strings.ToLower(name), ".csv") {
				format = "csv"
			}
			command := []string{"plants", "import", "--quiet", "--on-conflict", "skip"}
			file.check(t, "-", runWith(t, nil, file.text, append(command, "--dry-run", "--format", format, "-")...))
			file.check(t, name, run(t, nil, append(command, name)...))
			var ids []string
			for line := range strings.Lines(run(t, nil, "plants", "list", "--format", "csv").stdout) { // no file: no lines
				id, _, _ := strings.Cut(line, ",")
				ids = append(ids, id)
			}
			if got := strings.TrimPrefix(strings.Join(ids, " "), "id "); got != file.ids {
				t.Errorf("the plants with the ids %q are stored, want %q", got, file.ids)
			}
		})
	}
}
