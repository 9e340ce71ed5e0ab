package conformance

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"plantstore/internal/logging"
)

// An Outcome is the outcome of a case.
type Outcome string

// The outcomes of a case.
const (
	Passed Outcome = "passed"
	Failed Outcome = "failed"
	NotRun Outcome = "not run"
)

// A Result is the outcome of one case.
type Result struct {
	Rule    string  `json:"rule"`
	Name    string  `json:"name"`
	Outcome Outcome `json:"outcome"`
	// Reason is the deviation, or why the case was not run.
	Reason string `json:"reason,omitzero"`
	// Responses is the number of responses that deviate, for a case that checks all of them.
	Responses int `json:"responses,omitzero"`
	// RunWith are the flags of plantstore conformance that run a case that was not run.
	RunWith string `json:"runWith,omitzero"`
	// Sent, Got and Wanted show a failed case, shortened and escaped, with
	// placeholders for credentials.
	Sent   []string `json:"sent,omitempty"`
	Got    []string `json:"got,omitempty"`
	Wanted []string `json:"wanted,omitempty"`
	// Seconds is the duration of the case.
	Seconds float64 `json:"seconds"`
}

// A Report is the report of a run.
type Report struct {
	Target  string    `json:"target"`
	Started time.Time `json:"started"`
	// Seconds is the duration of the run.
	Seconds float64  `json:"seconds"`
	Results []Result `json:"results"`
}

// Deviations returns the number of failed cases. If it is 0, the server conforms to the contract
// as far as the cases that were run can show.
func (r Report) Deviations() int { return r.tally("")[Failed] }

// tally counts the outcomes of a rule, or of all.
func (r Report) tally(rule string) map[Outcome]int {
	counts := map[Outcome]int{}
	for _, result := range r.Results {
		if rule == "" || result.Rule == rule {
			counts[result.Outcome]++
		}
	}
	return counts
}

// The maximum numbers of causes with an example, and of bytes of a response, that WriteText writes.
const (
	mostExamples = 5
	shown        = 200
)

// A cause is a mistake of the server that explains failed cases.
type cause struct {
	rule, text string
	responses  int      // that deviate, if it is a mistake in all responses
	failed     []Result // its cases
}

// weight returns how much the cause explains.
func (c *cause) weight() int { return max(c.responses, len(c.failed)) }

// causes returns the causes of all failures, first the one that explains most: a mistake in all
// responses, failures that are not Errors, or the other failed cases of a rule.
func (r Report) causes() []*cause {
	texts := map[string]string{}
	for _, rule := range Rules() {
		texts[rule.ID] = rule.Text
	}
	var all []*cause
	known := map[string]*cause{}
	for _, result := range r.Results {
		if result.Outcome != Failed {
			continue
		}
		c := cause{rule: result.Rule, text: texts[result.Rule], responses: result.Responses}
		switch {
		case result.Responses > 0:
			c.text = strings.TrimPrefix(result.Name, everyResponse)
		case strings.Contains(result.Reason, errNoError.Error()):
			c.rule, c.text = "C1.3", "a failure is an Error"
		}
		key := c.rule + c.text
		if known[key] == nil {
			known[key] = &c
			all = append(all, &c)
		}
		known[key].failed = append(known[key].failed, result)
	}
	slices.SortStableFunc(all, func(a, b *cause) int { return cmp.Compare(b.weight(), a.weight()) })
	return all
}

// WriteText writes the causes of all failures, first the one that explains most, each with an
// example, then a summary, and the flags that run the other cases.
func (r Report) WriteText(w io.Writer) error {
	out := &printer{w: w}
	causes := r.causes()
	for i, c := range causes {
		unit := "cases"
		if c.responses > 0 {
			unit = "responses"
		}
		out.headline(c.rule, c.weight(), unit, c.text)
		switch {
		case i >= mostExamples && c.responses > 0:
			out.printf("  %s\n", logging.Line(c.failed[0].Reason))
		case i >= mostExamples:
			out.printf("  such as %s: %s\n", c.failed[0].Rule, c.failed[0].Name)
		default:
			out.failure(c.failed[0], shown)
		}
	}
	if len(causes) > 0 {
		out.printf("\nall failed cases: --verbose; the cases of a rule: --rule\n")
	}
	r.writeSummary(out)
	return out.err
}

// notCheckable returns what HTTP does not show of the rules.
func notCheckable() map[string]string {
	return map[string]string{
		"C1.4":   "errors 403, 500, 503 and 507",
		"C4.24":  "the length of the secret, other algorithms",
		"C4.25":  "logs and commands",
		"C4.25b": "an issuer without keys",
		"C5.26":  "durable: the next request finds the plant, a power failure may not",
		"C5.28":  "faults of the disk",
		"C5.29":  "the order of plants",
	}
}

// WriteVerbose writes one line for each rule, then each failed case with the request and the
// response, then the reasons why cases were not run, a summary, and the flags that run the
// others.
func (r Report) WriteVerbose(w io.Writer) error {
	out := &printer{w: w}
	for _, rule := range Rules() {
		n := r.tally(rule.ID)
		if len(n) == 0 {
			continue
		}
		out.printf("%-4s  %-6s %s  %s\n", verdict(rule, n), rule.ID, counts(n), rule.Text)
	}
	for _, result := range r.Results {
		if result.Outcome == Failed {
			out.printf("\n")
			if text, all := strings.CutPrefix(result.Name, everyResponse); all {
				out.headline(result.Rule, result.Responses, "responses", text)
			} else {
				out.printf("FAIL  %s\n", result.Rule)
			}
			out.failure(result, math.MaxInt)
		}
	}
	r.writeNotRun(out)
	out.printf("\n")
	r.writeSummary(out)
	return out.err
}

func (r Report) writeSummary(out *printer) {
	out.printf("%s in %.1f s: %s\n", r.Target, r.Seconds, counts(r.tally("")))
	if why := r.whyNotRun(); len(why) > 0 {
		out.printf("not run: %s\n", strings.Join(why, ", "))
	}
	var hidden []string
	for _, rule := range Rules() {
		if what := notCheckable()[rule.ID]; what != "" && r.tally(rule.ID)[Passed] > 0 {
			hidden = append(hidden, rule.ID+" ("+what+")")
		}
	}
	if len(hidden) > 0 {
		out.printf("not checkable over HTTP: %s\n", strings.Join(hidden, ", "))
	}
}

// whyNotRun returns the flags that run the other cases, or why none does, each with the number of cases,
// in descending order of that number.
func (r Report) whyNotRun() (why []string) {
	cases := r.notRun(func(result Result) string {
		return cmp.Or(result.RunWith, map[string]string{reasonEnded: "stopped"}[result.Reason], "not applicable")
	})
	reasons := sortedKeys(cases)
	slices.SortStableFunc(reasons, func(a, b string) int { return cmp.Compare(cases[b], cases[a]) })
	for _, reason := range reasons {
		why = append(why, fmt.Sprintf("%d (%s)", cases[reason], reason))
	}
	return why
}

// notRun counts the cases that were not run by a key.
func (r Report) notRun(key func(Result) string) map[string]int {
	cases := map[string]int{}
	for _, result := range r.Results {
		if result.Outcome == NotRun {
			cases[key(result)]++
		}
	}
	return cases
}

func reasonOf(result Result) string { return result.Reason }

// writeNotRun writes each reason for which cases were not run, and their number.
func (r Report) writeNotRun(out *printer) {
	reasons := r.notRun(reasonOf)
	if len(reasons) > 0 {
		out.printf("\n")
	}
	for _, reason := range sortedKeys(reasons) {
		out.printf("not run  %4d  %s\n", reasons[reason], logging.Line(reason))
	}
}

func verdict(rule Rule, n map[Outcome]int) string {
	switch {
	case n[Failed] > 0:
		return "FAIL"
	case n[Passed] > 0 && notCheckable()[rule.ID] != "":
		return "part"
	case n[Passed] > 0:
		return "ok"
	}
	return "-"
}

func counts(n map[Outcome]int) string {
	return fmt.Sprintf("%4d passed %3d failed %3d not run", n[Passed], n[Failed], n[NotRun])
}

// A printer writes until the first error, which it stores.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// headline writes what explains the failure of a number of cases or responses.
func (p *printer) headline(rule string, n int, unit, text string) {
	p.printf("FAIL  %-5s %4d %s: %s\n", rule, n, unit, text)
}

// failure writes a failed case, with up to most bytes of each response.
func (p *printer) failure(r Result, most int) {
	if r.Responses == 0 {
		p.printf("  %s\n", r.Name)
	}
	for reason := range strings.SplitSeq(r.Reason, "\n") { // indented, because it may contain text from the server
		p.printf("  %s\n", logging.Line(reason))
	}
	for _, part := range []struct {
		what  string
		lines []string
	}{{"sent", r.Sent}, {"got", r.Got}, {"wanted", r.Wanted}} {
		for _, line := range part.lines {
			if part.what == "got" && len(line) > most {
				line = line[:most] + "…"
			}
			p.printf("  %-7s %s\n", part.what, logging.Line(line))
		}
	}
}

// WriteJSON writes the report as one JSON object, with counts, and with each
// case under results.
func (r Report) WriteJSON(w io.Writer) error {
	n := r.tally("")
	summary := struct {
		Report

		Passed int `json:"passed"`
		Failed int `json:"failed"`
		NotRun int `json:"notRun"`
	}{r, n[Passed], n[Failed], n[NotRun]}
	if err := json.MarshalWrite(w, summary, jsontext.WithIndent("  ")); err != nil {
		return fmt.Errorf("write the report as JSON: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// The elements of a JUnit report.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string      `xml:"classname,attr"`
		Name    string      `xml:"name,attr"`
		Seconds string      `xml:"time,attr"`
		Failure *junitFault `xml:"failure"`
		Skipped *junitFault `xml:"skipped"`
	}
	junitFault struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the report as JUnit XML, one test suite for each rule.
func (r Report) WriteJUnit(w io.Writer) error {
	var suites junitSuites
	for _, rule := range Rules() {
		if n := r.tally(rule.ID); len(n) > 0 {
			suites.Suites = append(suites.Suites, r.junit(rule, n))
		}
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	if err := encoder.Encode(suites); err != nil {
		return fmt.Errorf("write the report as XML: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (r Report) junit(rule Rule, n map[Outcome]int) junitSuite {
	suite := junitSuite{
		Name: rule.ID + " " + rule.Text, Failures: n[Failed], Skipped: n[NotRun],
		Tests: n[Passed] + n[Failed] + n[NotRun],
	}
	for _, result := range r.Results {
		if result.Rule != rule.ID {
			continue
		}
		c := junitCase{Class: rule.ID, Name: result.Name, Seconds: fmt.Sprintf("%.3f", result.Seconds)}
		switch result.Outcome {
		case Failed:
			var text strings.Builder
			(&printer{w: &text}).failure(result, math.MaxInt)
			c.Failure = &junitFault{Message: result.Reason, Text: text.String()}
		case NotRun:
			c.Skipped = &junitFault{Message: result.Reason}
		case Passed:
		}
		suite.Cases = append(suite.Cases, c)
	}
	return suite
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
