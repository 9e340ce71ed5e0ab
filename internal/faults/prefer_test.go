package faults_test

import (
	"strings"
	"testing"
	"time"

	"plantstore/internal/faults"
)

// TestParsePrefer checks the syntax of Prefer. e2e demands every code.
func TestParsePrefer(t *testing.T) {
	t.Parallel()
	const stored, identical = faults.OutcomeStored, faults.OutcomeIdentical
	for text, want := range map[string]faults.Fault{
		"":                                   {},
		"code=503":                           {Code: 503},
		`code="503"`:                         {Code: 503},
		" Code = 503 ":                       {Code: 503},
		"respond-async, code=404, wait=10":   {Code: 404},
		"code=503|code=404":                  {Code: 503}, // two header fields
		"delay=200ms|code=404":               {Code: 404, Delay: 200 * time.Millisecond},
		"delay=10s":                          {Delay: faults.MaxDelay},
		"code=500; outcome=stored":           {Code: 500, Outcome: stored},
		`code=500;x;outcome="stored" ,a`:     {Code: 500, Outcome: stored},
		"code=409;outcome=identical;delay=1": {Code: 409, Outcome: identical},
		"code=409;outcome=stored":            {Code: 409},
		"code=503;outcome=stored":            {Code: 503},
		"code=999, code=503":                 {}, // the first counts
		"code=200":                           {},
		"code=0503":                          {},
		"code":                               {},
		"xcode=503":                          {},
		"delay=11s":                          {},
		"delay=-1s":                          {},
		"delay=2":                            {},
		`code="`:                             {},
	} {
		if got := faults.ParsePrefer(strings.Split(text, "|")); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// FuzzParsePrefer checks that no value makes the parser panic or exceed its bounds.
func FuzzParsePrefer(f *testing.F) {
	f.Add("code=503; outcome=stored, delay=2s", `a="\`)
	f.Fuzz(func(t *testing.T, a, b string) {
		if got := faults.ParsePrefer([]string{a, b}); got.Delay < 0 || got.Delay > faults.MaxDelay {
			t.Errorf("%+v", got)
		}
	})
}
