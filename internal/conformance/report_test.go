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
			{Rule: "C5.26", Name: "repeated", Outcome: Passed},
		},
	}
}

// TestWriteText checks that a report has the causes of all failures, first the one that explains most, with
// five examples.
func TestWriteText(t *testing.T) {
	t.Parallel()
	report := sampleReport()
	notError := Result{Rule: "C3.18", Name: "GET", Outcome: Failed, Reason: "status 404, and " + errNoError.Error()}
	report.Results = append(report.Results,
		Result{Rule: "C1.2", Name: "an empty tag", Outcome: Failed, Reason: "no tag"}, notError, notError, notError,
		Result{Rule: "C1.6", Name: everyResponse + "nosniff", Outcome: Failed, Reason: "the first is in C1.1: create", Responses: 900, Sent: []string{strings.Repeat("s", 2*shown) + " (without the last 37 bytes)"}, Got: []string{strings.Repeat("g", 1000)}},
		Result{Rule: "C2.11", Name: "ID", Outcome: Failed, Reason: "error 400"}, Result{Rule: "C2.12", Name: "null", Outcome: Failed, Reason: "error 400"}, Result{Rule: "C2.13", Name: "1.0", Outcome: Failed, Reason: "error 400"},
	)
	var b strings.Builder
	must.Do(t, report.WriteText(&b))
	want := `FAIL  C1.6   900 responses: nosniff
  the first is in C1.1: create
  sent    ` + strings.Repeat("s", 2*shown) + ` (without the last 37 bytes)
  got     ` + strings.Repeat("g", shown) + `…
FAIL  C1.3     3 cases: a failure is an Error
  GET
  status 404, and the body is not an Error: it must have exactly the fields error (an int32) and message (not empty)
FAIL  C1.2     2 cases: Success is 200 with the Plant: name, and tag if one was sent. Plants and Errors are application/json, and end with a newline
  a tag & <more>
  status 201, want 200
  sent    POST
  got     201 {"name":"fern"}
  wanted  200
FAIL  C2.11    1 cases: Field names match exactly. Unknown fields are ignored
  ID
  error 400
FAIL  C2.12    1 cases: Required means present. null is neither a string nor an integer
  null
  error 400
FAIL  C2.13    1 cases: id is an integer as in JSON Schema, exact within int64
  such as C2.13: 1.0

all failed cases: --verbose; the cases of a rule: --rule
http://h in 1.5 s:    3 passed   9 failed   3 not run
not run: 2 (--key), 1 (--slow)
not checkable over HTTP: C5.26 (durable: the next request finds the plant, a power failure may not)
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestWriteVerbose(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	report := sampleReport()
	report.Results = append(report.Results, Result{Rule: "C1.6", Name: everyResponse + "nosniff", Outcome: Failed, Reason: "the first is in C1.1: create", Responses: 900})
	must.Do(t, report.WriteVerbose(&b))
	const want = `ok    C1.1      1 passed   0 failed   0 not run  The one operation is POST /plants: clients can't read, list, change or delete plants
FAIL  C1.2      1 passed   1 failed   0 not run  Success is 200 with the Plant: name, and tag if one was sent. Plants and Errors are application/json, and end with a newline
-     C1.4      0 passed   0 failed   1 not run  error is the HTTP status number that names the failure
FAIL  C1.6      0 passed   1 failed   0 not run  WWW-Authenticate comes with error 401, Allow with 405, Retry-After with 429, 503 and 507, X-Request-Id and nosniff always. No header field reveals the server software
-     C4.21     0 passed   0 failed   1 not run  Only configured algorithms, with keys of their kind, in strict encoding
-     C4.22     0 passed   0 failed   1 not run  exp and nbf are numbers, and honored with a leeway of 5 seconds. By default, exp may be missing
part  C5.26     1 passed   0 failed   0 not run  200 is sent only when the plant is durable

FAIL  C1.2
  a tag & <more>
  status 201, want 200
  sent    POST
  got     201 {"name":"fern"}
  wanted  200

FAIL  C1.6   900 responses: nosniff
  the first is in C1.1: create

not run     2  needs the HS256 secret
not run     1  waits

http://h in 1.5 s:    3 passed   2 failed   3 not run
not run: 2 (--key), 1 (--slow)
not checkable over HTTP: C5.26 (durable: the next request finds the plant, a power failure may not)
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
			`"target": "http://h",`, `"passed": 3, "failed": 1, "notRun": 3 }`,
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
