package plantio_test

import (
	"errors"
	"fmt"
	"io"
	"os"
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

// maxBytes is the longest line of all tests but those of the limit.
const maxBytes = 1 << 20

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

// read returns the plants of a text and the errors of its other lines. The last one begins with "format: " if
// the file is not in its format, or with "final: ".
func read(t testing.TB, format plantio.Format, text string) (records []storage.Record, bad []string) {
	t.Helper()
	in := plantio.NewReader(strings.NewReader(text), format, maxBytes)
	for range len(text) + 3 {
		record, _, err := in.Read()
		switch {
		case errors.Is(err, io.EOF):
			return records, bad
		case errors.As(err, new(*plantio.LineError)):
			bad = append(bad, err.Error())
		case errors.As(err, new(*plantio.FormatError)):
			return records, append(bad, "format: "+err.Error())
		case err != nil:
			return records, append(bad, "final: "+err.Error())
		default:
			records = append(records, record)
		}
	}
	t.Fatalf("reading %.1000q does not end", text)
	return nil, nil
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

// A readText is the text of a file, and what is read from it.
type readText struct {
	text   string
	plants []string // as JSON Lines
	bad    []string
}

const (
	one = `{"id":1,"name":"a"}`
	two = `{"id":2,"name":"b","tag":"t"}`
)

// rows returns CSV by name.
func rows() map[string]readText {
	return map[string]readText{
		"twice":         {"id,name,id\n", nil, []string{`format: line 1: must name the columns id, name and tag, each once, but is "id,name,id"`}},
		"names only":    {"id,name\n", nil, nil},
		"no tags":       {"name, id\na,1\n", []string{one}, nil},
		"as from Excel": {"\ufeffid,name,tag\r\n1,\"a\r\nb\",\r\n", []string{`{"id":1,"name":"a\nb"}`}, nil},
		"other columns": {"x,tag,y,name,id\n0,t,0,b,2\n", []string{two}, nil},
		"short row":     {"id,name,tag\n1,a\n2\n", []string{one}, []string{"line 3: name: is required"}},
		"empty strings": {"id,name,tag\n1,,\"\"\"\"\"\"\n", []string{`{"id":1,"name":"","tag":""}`}, nil},
		"long row":      {"id,name\n1,a,b\n", nil, []string{"line 2: has 3 cells, but there are 2 columns"}},
		"not UTF-8":     {"id,name\n1,\xff\n", nil, []string{"line 2: name: is not UTF-8"}},
		"bare quote":    {"id,name\n1,a\"b\n1,a\n", []string{one}, []string{"line 2: is not CSV: a quotation mark is left open, or not doubled"}},
		"quote at end":  {"id,name\n1,\"a\n", nil, []string{"line 2: is not CSV: a quotation mark is left open, or not doubled"}},
		"quote is open": {"id,name\n1,\"a\nx\n1,\"b\"\n1,a\n", []string{one}, []string{"line 2: is not CSV: a quotation mark is left open, or not doubled; the lines 2 to 4 are left out"}},
		"lines are long": {
			"id,name\n1,\"a\n\n\"\n\nx,b\n",
			[]string{`{"id":1,"name":"a\n\n"}`},
			[]string{"line 6: id: must be an integer, not a string"},
		},
		"no ids": {
			"id,name\n,a\n\"1,\"\"tag\"\":\"\"x\"\"\",a\n", nil,
			[]string{"line 2: id: is required", "line 3: id: must be an integer, not a string"},
		},
		"numbers": {
			"id,name\n1.23457E+18,1.5\n8.0,1e2\n-1e2,a\n7,1.5\n007032,a\n\"7,030\",a\n7 030,a\n+7033,a\n-0,0\n1.2.3,a\n-,a\n 9 ,a\n",
			[]string{`{"id":7,"name":"1.5"}`, `{"id":0,"name":"0"}`},
			[]string{
				"line 2: id: looks rounded by a spreadsheet; write all its digits",
				"line 3: id: has a fraction or a separator; write its digits alone",
				"line 4: id: looks rounded by a spreadsheet; write all its digits",
				"line 6: id: has a leading zero; write it without",
				"line 7: id: has a separator; write its digits alone",
				"line 8: id: has a separator; write its digits alone",
				"line 9: id: has a plus sign; write its digits alone",
				"line 11: id: has a fraction or a separator; write its digits alone",
				"line 12: id: must be an integer, not a string",
				"line 13: id: has a blank before or after it; write its digits alone",
			},
		},
		"empty rows": {"id,name,tag\r\n1,a,\r\n\r\n,,\r\n\"\",,\r\n,,,,\r\n2,b,t\r\n", []string{one, two}, nil},
		"capitals":   {"ID,Name,Tag,NOTE\n2,b,t,x\n", []string{two}, nil},
		"both cases": {"id,name,ID\n", nil, []string{`format: line 1: must name the columns id, name and tag, each once, but is "id,name,ID"`}},
		"half a string": {
			"id,name\n1,\"\"\"a\"\n2,\"\"\"a\"\",\"\"tag\"\":\"\"b\"\"\"\n", nil,
			[]string{
				"line 2: name: begins with a quotation mark, but is not a JSON string",
				"line 3: name: begins with a quotation mark, but is not a JSON string",
			},
		},
	}
}

// lines returns JSON Lines and arrays by name.
func lines() map[string]readText {
	long := `{"id":5,"name":"` + strings.Repeat("x", 300_000) + `"}` // more than a buffer
	return map[string]readText{
		"lines": {one + "\n\n" + ` {"tag":"t" , "name":"b","id":2e0,"more":[1]} ` + "\r\n\t\n" + long, []string{one, two, long}, nil},
		"lines, bad": {
			`{"id":3,"name":null}` + "\n[]\n" + `{"id":4,"name":"a","name":"b"}` + "\n" +
				`{"id":9223372036854775808,"name":"` + "\xff\"}\n" + `{"id":6,"name":"cut`,
			nil,
			[]string{
				"line 1: name: must be a string, not null",
				"line 2: must be an object, not an array",
				"line 3: name: appears more than once in its object",
				"line 4: name: is not UTF-8 at byte 34",
				"line 5: name: the JSON is cut short, it ends after 19 bytes",
			},
		},
		"an array in a plant": {`{"more":[{"a":1}],"id":1,"name":"a"}` + "\n" + two, []string{one, two}, nil},
		"array, empty":        {" [ \n ] \n", nil, nil},
		"array":               {"[" + one + "," + two + "]", []string{one, two}, nil},
		"array, on lines": {
			"\n[\n {\n \"id\": 1,\n \"name\": \"a\"\n }\n,\n null\n]\n",
			[]string{one},
			[]string{"line 8: element 2: must be an object, not null"},
		},
		"array, brackets in text": {
			`[{"id":1,"name":"]},[{\"","tag":"\\"},{"id":2,"name":"","x":[[],{}]}]`,
			[]string{`{"id":1,"name":"]},[{\"","tag":"\\"}`, `{"id":2,"name":""}`},
			nil,
		},
		"array, bad elements": {
			`[{"id":1,"name":"a",}` + ",\n" + `{"id":2,"name":"b","id":2},{"id":3,"name":"` + "\xff" + `"},{]},{"id":4,"name":""} 5,,` + one + "]",
			[]string{one},
			[]string{
				"line 1: element 1: has a trailing comma at byte 18",
				"line 2: element 2: id: appears more than once in its object",
				"line 2: element 3: name: is not UTF-8 at byte 16",
				"line 2: element 4: is not valid JSON at byte 1",
				"line 2: element 5: continues after the end of its JSON at byte 18",
				"line 2: element 6: is empty; send a NewPlant as JSON",
			},
		},
		"array, trailing comma": {"[" + one + ",\n]", []string{one}, []string{"line 2: element 2: is empty; send a NewPlant as JSON"}},
		"array, cut short":      {"[" + one + `,{"id":2`, []string{one}, []string{"final: the array is cut short: it ends in element 2"}},
		"array, not closed":     {"[", nil, []string{"final: the array is cut short: it ends in element 1"}},
		"two arrays":            {"[]\n[]", nil, []string{"final: line 2: the file continues after the end of its array"}},
	}
}

// TestRead checks which plants are read, and how lines that violate the rules of POST /plants are reported: with
// their number, and that of the element in an array.
func TestRead(t *testing.T) {
	t.Parallel()
	for format, texts := range map[plantio.Format]map[string]readText{plantio.CSV: rows(), plantio.JSONLines: lines()} {
		for name, test := range texts {
			records, bad := read(t, format, test.text)
			plants := strings.TrimSuffix(write(t, plantio.JSONLines, records), "\n")
			if diff := cmp.Diff(strings.Join(test.plants, "\n"), plants) + cmp.Diff(test.bad, bad); diff != "" {
				t.Errorf("%s: plants and bad lines (-want +got):\n%.2000s", name, diff)
			}
		}
	}
}

// TestEndlessLine checks that an endless line, row or element of an array is not read into memory.
//
//nolint:paralleltest // it measures the memory of the process
func TestEndlessLine(t *testing.T) {
	const plant = `{"id":1,"name":"a"}`
	const longer = "longer than 65536 bytes, the limit of MAX_BODY_BYTES"
	for start, test := range map[string]struct {
		format    plantio.Format
		end, want string
	}{
		"{":             {plantio.JSONLines, "\n" + plant, "line 1: is " + longer},
		"[{":            {plantio.JSONLines, "}," + plant + "]", "line 1: element 1: is " + longer},
		"id,name\n1,\"": {plantio.CSV, "", "the row after line 1 is longer than 524288 bytes; is a quotation mark left open?"},
	} {
		text := io.MultiReader(strings.NewReader(start), io.LimitReader(repeat("0"), 8<<20), strings.NewReader(test.end))
		in := plantio.NewReader(text, test.format, 1<<16)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := in.Read()
		runtime.ReadMemStats(&after)
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: %v, want %s", start, err, test.want)
		}
		if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 4 {
			t.Errorf("%s: it needs %d MiB", start, n)
		}
		if record, _, err := in.Read(); test.end != "" && (err != nil || record.ID != 1) {
			t.Errorf("%s: after it: %+v, %v, want the plant", start, record, err)
		}
	}
}

// TestLongestLine checks that a line may be as long as a body of POST /plants, but not longer. A plant after more
// spaces is not skipped with them.
func TestLongestLine(t *testing.T) {
	t.Parallel()
	for _, most := range []int{30, 300_000} { // within a buffer, and beyond it
		fits := strings.Repeat("x", most-len(`{"id":1,"name":""}`))
		first, second, third := `{"id":1,"name":"`+fits+`"}`, `{"id":2,"name":"`+fits+`x"}`, `{"id":3,"name":""}`
		long := fmt.Sprintf("is longer than %d bytes, the limit of MAX_BODY_BYTES", most)
		spaces := strings.Repeat(" ", 300_000)
		for _, test := range []struct {
			format plantio.Format
			text   string
			want   []string
		}{
			{plantio.JSONLines, first + "\n" + second + "\n" + third, []string{"1: 1, <nil>", "2: 0, line 2: " + long, "3: 3, <nil>"}},
			{plantio.CSV, "id,name\n1," + fits + "\n2," + fits + "x\n3,\n", []string{"2: 1, <nil>", "3: 0, line 3: " + long, "4: 3, <nil>"}},
			{
				plantio.JSONLines, "[\n" + first + " ,\n" + second + ",\n" + third + "]",
				[]string{"2: 1, <nil>", "3: 0, line 3: element 2: " + long, "4: 3, <nil>"},
			},
			{plantio.JSONLines, spaces + first + spaces + spaces + "\n \n" + third, []string{"1: 0, line 1: " + long, "3: 3, <nil>"}},
		} {
			in := plantio.NewReader(strings.NewReader(test.text), test.format, int64(most))
			var got []string
			for {
				record, line, err := in.Read()
				if err != nil && !errors.As(err, new(*plantio.LineError)) { // io.EOF
					break
				}
				got = append(got, fmt.Sprintf("%d: %d, %v", line.Line, record.ID, err))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%.50s, at most %d bytes (-want +got):\n%s", test.text, most, diff)
			}
		}
	}
}

// TestSamples checks that the sample file has a hundred different plants in the canonical form
// of exports. Their ids are none that the examples of the documents create.
func TestSamples(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("../../docs/samples/plants.jsonl"))(t)
	records, bad := read(t, plantio.JSONLines, string(text))
	names := map[string]bool{}
	for i, r := range records {
		names[r.Plant.Name] = true
		if r.ID != int64(1001+i) || r.Plant.Tag == nil {
			t.Errorf("line %d: %+v", i+1, r)
		}
	}
	if len(records) != 100 || len(names) != 100 || bad != nil {
		t.Errorf("there are %d plants with %d names, want 100, and the bad lines %v", len(records), len(names), bad)
	}
	if write(t, plantio.JSONLines, records) != string(text) {
		t.Error("an export would look different")
	}
}

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
