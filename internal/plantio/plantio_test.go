package plantio_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"plantstore/internal/must"
	"plantstore/internal/plantio"
	"plantstore/internal/watchdog"
	"plantstore/models"
	"plantstore/storage"
)

func TestMain(m *testing.M) { watchdog.Main(m) }

// limits returns the limits of all tests except the tests of the limit.
func maxBytes() int64 { return 8 << 20 }

// formats returns all formats by name.
func formats() map[string]plantio.Format {
	return map[string]plantio.Format{"jsonl": plantio.JSONLines, "csv": plantio.CSV}
}

// write returns records in a format.
func write(t testing.TB, format plantio.Format, records []storage.Record) string {
	t.Helper()
	var text strings.Builder
	out := plantio.NewWriter(&text, format)
	for _, record := range records {
		must.Do(t, out.Write(record))
	}
	must.Do(t, out.Flush())
	return text.String()
}

// read returns the plants of a text and the errors of its other lines.
func read(t testing.TB, format plantio.Format, text string) (records []storage.Record, bad []string) {
	t.Helper()
	in := plantio.NewReader(strings.NewReader(text), format, maxBytes())
	for {
		record, _, err := in.Read()
		var lineErr *plantio.LineError
		switch {
		case errors.Is(err, io.EOF):
			return records, bad
		case errors.As(err, &lineErr):
			bad = append(bad, lineErr.Error())
		case err != nil:
			return records, append(bad, "final: "+err.Error())
		default:
			records = append(records, record)
		}
	}
}

// TestRoundTrip writes arbitrary plants and reads them. Both must be equal, in all fields, also future
// ones.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		texts := rapid.OneOf(rapid.String(), rapid.StringMatching(`[\r\n",\\ a]{0,4}`))
		records := rapid.SliceOf(rapid.Custom(func(r *rapid.T) storage.Record {
			plant := rapid.Make[models.Plant]().Draw(r, "plant")
			plant.Name, plant.Tag = texts.Draw(r, "name"), rapid.Ptr(texts, true).Draw(r, "tag")
			return storage.Record{ID: rapid.Int64().Draw(r, "id"), Plant: plant}
		})).Draw(r, "records")
		for name, format := range formats() {
			got, bad := read(t, format, write(t, format, records))
			if len(bad) > 0 || len(got) != len(records) {
				r.Fatalf("%s: %d records of %d, %v", name, len(got), len(records), bad)
			}
			for i := range got {
				if !reflect.DeepEqual(got[i], records[i]) {
					r.Fatalf("%s: %+v has become %+v", name, records[i], got[i])
				}
			}
		}
	})
}

func TestWrite(t *testing.T) {
	t.Parallel()
	tag, empty, lines := "climber", "", "two\r\nlines"
	records := []storage.Record{
		{ID: math.MinInt64, Plant: models.Plant{Name: "Monstera", Tag: &tag}},
		{ID: 0, Plant: models.Plant{Name: `<"b">, 'c'`}},
		{ID: 1, Plant: models.Plant{Name: `"quoted"`, Tag: &empty}},
		{ID: math.MaxInt64, Plant: models.Plant{Tag: &lines}},
	}
	for format, want := range map[plantio.Format]string{
		plantio.JSONLines: `{"id":-9223372036854775808,"name":"Monstera","tag":"climber"}
{"id":0,"name":"<\"b\">, 'c'"}
{"id":1,"name":"\"quoted\"","tag":""}
{"id":9223372036854775807,"name":"","tag":"two\r\nlines"}
`,
		plantio.CSV: `id,name,tag
-9223372036854775808,Monstera,climber
0,"<""b"">, 'c'",
1,"""\""quoted\""""","""""" 
9223372036854775807,,"""two\r\nlines"""
`,
	} {
		want = strings.ReplaceAll(want, " \n", "\n")
		if diff := cmp.Diff(want, write(t, format, records)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if got := write(t, plantio.CSV, nil); got != "id,name,tag\n" {
		t.Errorf("no plants as CSV: %q", got)
	}
}

// TestReadJSONLines checks that lines that violate the rules of POST /plants are reported with
// their numbers.
func TestReadJSONLines(t *testing.T) {
	t.Parallel()
	text := strings.Join([]string{
		`{"id":1,"name":"a"}`,
		``,
		` {"tag":"t" , "name":"b","id":2e0,"more":[1]} ` + "\r",
		`{"id":3,"name":null}`,
		`[]`,
		`{"id":4,"name":"a","name":"b"}`,
		`{"id":9223372036854775808,"name":"` + "\xff" + `"}`,
		`{"id":5,"name":"` + strings.Repeat("x", 1<<20) + `"}`,
		`{"id":6,"name":"cut`,
		"\t",
		`{"id":7,"name":"no end of line"}`,
	}, "\n")
	records, bad := read(t, plantio.JSONLines, text)
	var ids []int64
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	if diff := cmp.Diff([]int64{1, 2, 5, 7}, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	want := []string{
		"line 4: name: must be a string, not null",
		"line 5: must be an object, not an array",
		"line 6: name: appears more than once in its object",
		"line 7: name: is not UTF-8 at byte 34",
		"line 9: name: the JSON is cut short, it ends after 19 bytes",
	}
	if diff := cmp.Diff(want, bad); diff != "" {
		t.Errorf("bad lines (-want +got):\n%s", diff)
	}
}

func TestReadCSV(t *testing.T) {
	t.Parallel()
	tag, empty := "t", ""
	tests := map[string]struct {
		text string
		want []storage.Record
		bad  []string
	}{
		"nothing":        {"", nil, []string{"final: the file is empty: its first line must name the columns id, name and tag"}},
		"no names":       {"1,a,t\n", nil, []string{`final: line 1: must name the columns id, name and tag, each once, but is "1,a,t"`}},
		"twice":          {"id,name,id\n", nil, []string{`final: line 1: must name the columns id, name and tag, each once, but is "id,name,id"`}},
		"names only":     {"id,name\n", nil, nil},
		"no tags":        {"name,id\na,1\n", []storage.Record{{ID: 1, Plant: models.Plant{Name: "a"}}}, nil},
		"as from Excel":  {"\ufeffid,name,tag\r\n1,\"a\r\nb\",\r\n", []storage.Record{{ID: 1, Plant: models.Plant{Name: "a\nb"}}}, nil},
		"other columns":  {"x,tag,y,name,id\n0,t,0,a,1\n", []storage.Record{{ID: 1, Plant: models.Plant{Name: "a", Tag: &tag}}}, nil},
		"short row":      {"id,name,tag\n1,a\n2\n", []storage.Record{{ID: 1, Plant: models.Plant{Name: "a"}}}, []string{"line 3: name: is required"}},
		"empty strings":  {"id,name,tag\n1,,\"\"\"\"\"\"\n", []storage.Record{{ID: 1, Plant: models.Plant{Tag: &empty}}}, nil},
		"long row":       {"id,name\n1,a,b\n", nil, []string{"line 2: has 3 cells, but there are 2 columns"}},
		"no ids":         {"id,name\n,a\nx,a\n\"1,\"\"tag\"\":\"\"x\"\"\",a\n", nil, []string{"line 2: id: is required", "line 3: id: must be an integer, not a string", "line 4: id: must be an integer, not a string"}},
		"rounded":        {"id,name\n1.23457E+18,1.5\n1.0,1e2\n-1e2,a\n7,1.5\n", []storage.Record{{ID: 7, Plant: models.Plant{Name: "1.5"}}}, []string{"line 2: id: looks rounded by a spreadsheet; write all its digits", "line 3: id: looks rounded by a spreadsheet; write all its digits", "line 4: id: looks rounded by a spreadsheet; write all its digits"}},
		"half a string":  {"id,name\n1,\"\"\"a\"\n2,\"\"\"a\"\",\"\"tag\"\":\"\"b\"\"\"\n", nil, []string{"line 2: name: begins with a quotation mark, but is not a JSON string", "line 3: name: begins with a quotation mark, but is not a JSON string"}},
		"not UTF-8":      {"id,name\n1,\xff\n", nil, []string{"line 2: name: is not UTF-8"}},
		"not CSV":        {"id,name\n1,a\"b\n2,a\n", []storage.Record{{ID: 2, Plant: models.Plant{Name: "a"}}}, []string{`line 2: is not CSV: bare " in non-quoted-field in column 4`}},
		"quote at end":   {"id,name\n1,\"a\n", nil, []string{`line 2: is not CSV: extraneous or missing " in quoted-field in column 6`}},
		"lines are long": {"id,name\n1,\"a\n\n\"\n\nx,b\n", []storage.Record{{ID: 1, Plant: models.Plant{Name: "a\n\n"}}}, []string{"line 6: id: must be an integer, not a string"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, bad := read(t, plantio.CSV, test.text)
			if diff := cmp.Diff(test.want, records); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.bad, bad); diff != "" {
				t.Errorf("bad lines (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEndlessLine checks that an endless line is not read into memory.
func TestEndlessLine(t *testing.T) {
	t.Parallel()
	endless := func(start string) io.Reader {
		return io.MultiReader(strings.NewReader(start), io.LimitReader(zeros{}, 100<<20), strings.NewReader("\n{\"id\":1,\"name\":\"a\"}"))
	}
	in := plantio.NewReader(endless("{"), plantio.JSONLines, maxBytes())
	var bad *plantio.LineError
	if _, _, err := in.Read(); !errors.As(err, &bad) || bad.Error() != "line 1: is longer than 8388608 bytes, the limit of MAX_BODY_BYTES" {
		t.Errorf("JSON Lines: %v", err)
	}
	if record, line, err := in.Read(); err != nil || record.ID != 1 || line.Line != 2 {
		t.Errorf("the line after it: %+v, %+v, %v", record, line, err)
	}
	in = plantio.NewReader(endless("id,name\n1,\""), plantio.CSV, maxBytes())
	if _, _, err := in.Read(); err == nil || !strings.Contains(err.Error(), "is a quotation mark left open?") || !strings.Contains(err.Error(), "after line 1 ") {
		t.Errorf("CSV: %v", err)
	}
}

// TestReadArray checks that the elements of an array are read as lines are, and reported with the
// line and their number.
func TestReadArray(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		ids  []int64
		bad  []string
	}{
		"no elements":      {" [ \n ] \n", nil, nil},
		"one line":         {`[{"id":1,"name":"a"},{"id":2,"name":"b"}]`, []int64{1, 2}, nil},
		"lines":            {"\n[\n {\n \"id\": 1,\n \"name\": \"a\"\n }\n,\n null\n]\n", []int64{1}, []string{"line 8: element 2: must be an object, not null"}},
		"brackets in text": {`[{"id":1,"name":"]},[{\"","tag":"\\"},{"id":2,"name":"","x":[[],{}]}]`, []int64{1, 2}, nil},
		"bad elements": {
			`[{"id":1,"name":"a",}` + ",\n" + `{"id":2,"name":"b","id":2},{"id":3,"name":"` + "\xff" + `"},{]},{"id":4,"name":""} 5,,{"id":6,"name":""}]`,
			[]int64{6},
			[]string{
				"line 1: element 1: has a trailing comma at byte 18",
				"line 2: element 2: id: appears more than once in its object",
				"line 2: element 3: name: is not UTF-8 at byte 16",
				"line 2: element 4: is not valid JSON at byte 1",
				"line 2: element 5: continues after the end of its JSON at byte 18",
				"line 2: element 6: is empty; send a NewPlant as JSON",
			},
		},
		"trailing comma": {"[{\"id\":1,\"name\":\"\"},\n]", []int64{1}, []string{"line 2: element 2: is empty; send a NewPlant as JSON"}},
		"cut short":      {`[{"id":1,"name":""},{"id":2`, []int64{1}, []string{"final: the array is cut short: it ends in element 2"}},
		"not closed":     {`[`, nil, []string{"final: the array is cut short: it ends in element 1"}},
		"two arrays":     {"[]\n[]", nil, []string{"final: line 2: the file continues after the end of its array"}},
		"too long":       {"[" + strings.Repeat(" ", 9<<20) + `{"id":1,"name":"` + strings.Repeat("x", 9<<20) + "\"},\n{\"id\":2,\"name\":\"\"}]", []int64{2}, []string{"line 1: element 1: is longer than 8388608 bytes, the limit of MAX_BODY_BYTES"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			records, bad := read(t, plantio.JSONLines, test.text)
			var ids []int64
			for _, r := range records {
				ids = append(ids, r.ID)
			}
			if diff := cmp.Diff(test.ids, ids); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.bad, bad); diff != "" {
				t.Errorf("bad elements (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEndlessElement checks that an endless element of an array is not read into memory.
//
//nolint:paralleltest // it measures the memory of the process
func TestEndlessElement(t *testing.T) {
	text := io.MultiReader(strings.NewReader("[{"), io.LimitReader(zeros{}, 100<<20), strings.NewReader("},{\"id\":1,\"name\":\"a\"}]"))
	in := plantio.NewReader(text, plantio.JSONLines, 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := in.Read()
	runtime.ReadMemStats(&after)
	if want := "line 1: element 1: is longer than 1048576 bytes, the limit of MAX_BODY_BYTES"; err == nil || err.Error() != want {
		t.Errorf("the element: %v, want %s", err, want)
	}
	if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 16 {
		t.Errorf("the element needs %d MiB", n)
	}
	if record, _, err := in.Read(); err != nil || record.ID != 1 {
		t.Errorf("the element after it: %+v, %v", record, err)
	}
}

// TestLongestLine checks that a line may be as long as a body of POST /plants, but not longer.
func TestLongestLine(t *testing.T) {
	t.Parallel()
	for _, most := range []int{30, 100, 300_000, 1 << 20} { // within a buffer, and beyond it
		fits := strings.Repeat("x", most-len(`{"id":1,"name":""}`))
		for name, texts := range map[string]struct {
			format plantio.Format
			text   string
		}{
			"jsonl": {plantio.JSONLines, `{"id":1,"name":"` + fits + `"}` + "\n" + `{"id":2,"name":"` + fits + `x"}` + "\n" + `{"id":3,"name":""}`},
			"csv":   {plantio.CSV, "id,name\n1," + fits + "\n2," + fits + "x\n3,\n"},
			"array": {plantio.JSONLines, "[\n" + `{"id":1,"name":"` + fits + `"}` + " ,\n" + `{"id":2,"name":"` + fits + `x"}` + ",\n" + `{"id":3,"name":""}` + "]"},
			"again": {plantio.JSONLines, "\n" + `{"id":1,"name":"` + fits + `" }` + "\n" + `{"id":3,"name":"` + fits + `"}`},
		} {
			in := plantio.NewReader(strings.NewReader(texts.text), texts.format, int64(most))
			var got []string
			for {
				record, line, err := in.Read()
				if err != nil && !errors.As(err, new(*plantio.LineError)) { // io.EOF
					break
				}
				got = append(got, fmt.Sprintf("%d: %d, %v", line.Line, record.ID, err))
			}
			long := fmt.Sprintf("2: 0, line 2: is longer than %d bytes, the limit of MAX_BODY_BYTES", most)
			want := []string{"1: 1, <nil>", long, "3: 3, <nil>"}
			switch name {
			case "csv":
				want = []string{"2: 1, <nil>", strings.ReplaceAll(strings.Replace(long, "2:", "3:", 1), "line 2", "line 3"), "4: 3, <nil>"}
			case "array":
				want = []string{"2: 1, <nil>", strings.ReplaceAll(strings.Replace(long, "2:", "3:", 1), "line 2", "line 3: element 2"), "4: 3, <nil>"}
			case "again":
				want = []string{long, "3: 3, <nil>"}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, at most %d bytes (-want +got):\n%s", name, most, diff)
			}
		}
	}
}

// TestLongBlankLine checks that a plant after more spaces than a line may have is not skipped with
// them.
func TestLongBlankLine(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(" ", 1<<20) + `{"id":1,"name":""}` + "\n \n" + `{"id":3,"name":""}`
	in := plantio.NewReader(strings.NewReader(text), plantio.JSONLines, 100)
	_, _, err := in.Read()
	if want := "line 1: is longer than 100 bytes, the limit of MAX_BODY_BYTES"; err == nil || err.Error() != want {
		t.Errorf("the long line: %v, want %s", err, want)
	}
	if record, line, err := in.Read(); record.ID != 3 || line.Line != 3 || err != nil {
		t.Errorf("the line after it: %+v, %+v, %v; want the plant 3 of line 3", record, line, err)
	}
}

// zeros reads as the digit 0.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]plantio.Format{
		"a.csv": plantio.CSV, "a.CSV": plantio.CSV, "csv": plantio.JSONLines, "-": plantio.JSONLines, "a.csv.jsonl": plantio.JSONLines,
	} {
		if got := plantio.FormatOf(name); got != want {
			t.Errorf("FormatOf(%s) = %v, want %v", name, got, want)
		}
	}
}
