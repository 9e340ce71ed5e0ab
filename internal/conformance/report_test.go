package conformance

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/must"
)

func sampleReport() Report {
	return Report{
		Target: "http://h", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Seconds: 1.5,
		Results: []Result{
			{Rule: "C1.1", Name: "create a plant", Outcome: Passed, Seconds: 0.001},
			{
				Rule: "C1.2", Name: "a tag & <more>", Outcome: Failed, Reason: "status 201, want 200", Seconds: 0.002,
				Sent: []string{"POST"}, Got: []string{`201 {"name":"fern"}`}, Wanted: []string{"200"},
			},
			{Rule: "C1.2", Name: "no tag", Outcome: Passed},
			{Rule: "C1.4", Name: "slow", Outcome: NotRun, Reason: "waits", RunWith: "--slow"},
			{Rule: "C4.21", Name: "signed", Outcome: NotRun, Reason: "needs the HS256 secret", RunWith: "--key"},
			{Rule: "C4.22", Name: "exp", Outcome: NotRun, Reason: "needs the HS256 secret", RunWith: "--key"},
		},
	}
}

// TestWriteText checks that a report has the first failed case of up to five rules, and fits on a screen.
func TestWriteText(t *testing.T) {
	t.Parallel()
	report := sampleReport()
	var b strings.Builder
	must.Do(t, report.WriteText(&b))
	const want = `FAIL  C1.2  1 of 2 cases: Success is 200 with the Plant: name, and tag if one was sent. Plants and Errors are application/json, and end with a newline
  a tag & <more>
  status 201, want 200
  sent    POST
  got     201 {"name":"fern"}
  wanted  200
all failed cases: --verbose; the cases of a rule: --rule

http://h in 1.5 s:    2 passed   1 failed   3 not run
not run: 2 (--key), 1 (--slow)
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	for _, c := range Cases() {
		report.Results = append(report.Results, Result{Rule: c.Rule, Name: c.Name, Outcome: Failed, Reason: "r", Sent: []string{strings.Repeat("s", 1000)}, Got: []string{"g"}})
	}
	b.Reset()
	if err := report.WriteText(&b); err != nil || strings.Count(b.String(), "\n") > 40 || strings.Contains(b.String(), strings.Repeat("s", 300)) {
		t.Errorf("if all cases fail, the report has %d lines: %v\n%s", strings.Count(b.String(), "\n"), err, &b)
	}
}

func TestWriteVerbose(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	must.Do(t, sampleReport().WriteVerbose(&b))
	const want = `ok    C1.1      1 passed   0 failed   0 not run  The one operation is POST /plants: clients can't read, list, change or delete plants
FAIL  C1.2      1 passed   1 failed   0 not run  Success is 200 with the Plant: name, and tag if one was sent. Plants and Errors are application/json, and end with a newline
-     C1.4      0 passed   0 failed   1 not run  error is the HTTP status number that names the failure
-     C4.21     0 passed   0 failed   1 not run  Only configured algorithms, with keys of their kind, in strict encoding
-     C4.22     0 passed   0 failed   1 not run  exp and nbf are numbers, and are honored. By default, exp may be missing

FAIL  C1.2
  a tag & <more>
  status 201, want 200
  sent    POST
  got     201 {"name":"fern"}
  wanted  200

not run     2  needs the HS256 secret
not run     1  waits

http://h in 1.5 s:    2 passed   1 failed   3 not run
not run: 2 (--key), 1 (--slow)
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// TestFormats checks the reports for programs, and that each format reports that it cannot be written.
func TestFormats(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		write func(io.Writer) error
		want  []string
	}{
		"text": {sampleReport().WriteText, []string{"not run: 2 (--key), 1 (--slow)"}},
		"JSON": {sampleReport().WriteJSON, []string{
			`"target": "http://h",`, `"passed": 2, "failed": 1, "notRun": 3 }`,
			`"rule": "C1.2", "name": "a tag & <more>", "outcome": "failed", "reason": "status 201, want 200", "sent": [ "POST" ],`,
			`"got": [ "201 {\"name\":\"fern\"}" ], "wanted": [ "200" ], "seconds": 0.002 }`,
		}},
		"JUnit": {sampleReport().WriteJUnit, []string{
			` tests="2" failures="1" skipped="0"`, ` name="a tag &amp; &lt;more&gt;" time="0.002"`,
			`<failure message="status 201, want 200">`, `<skipped message="waits">`,
		}},
	} {
		var b bytes.Buffer
		must.Do(t, test.write(&b))
		text := strings.Join(strings.Fields(b.String()), " ")
		for _, want := range test.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %s is not in:\n%s", name, want, &b)
			}
		}
		for _, left := range []int{0, 50} {
			if err := test.write(&brokenWriter{left}); !errors.Is(err, errBroken) {
				t.Errorf("%s, broken after %d bytes: error %v", name, left, err)
			}
		}
	}
}

// A brokenWriter fails after some bytes.
type brokenWriter struct{ left int }

var errBroken = errors.New("broken")

func (w *brokenWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errBroken
	}
	return len(b), nil
}
