package faults

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"plantstore/models"
)

// MaxDelay is the maximum delay of a [Fault]: the default time limit of a shutdown.
const MaxDelay = 10 * time.Second

// The values of [Fault.Outcome].
const (
	// OutcomeStored: with [models.CodeInternal], the plant is stored although the response says
	// that it is unknown whether it is (C5.28).
	OutcomeStored = "stored"
	// OutcomeIdentical: with [models.CodeConflict], the stored plant is identical to the plant in the
	// request.
	OutcomeIdentical = "identical"
)

// A Fault is a failure or a delay that a request demands, to test its client.
type Fault struct {
	// Code is the failure, 0 for none.
	Code models.Code
	// Outcome is OutcomeStored, OutcomeIdentical, or empty.
	Outcome string
	// Delay is the time before the response, at most MaxDelay.
	Delay time.Duration
}

// ParsePrefer returns the fault in the values of Prefer (RFC 7240), such as "code=503" or
// "code=500; outcome=stored, delay=2s". The first of each preference counts. Unknown
// preferences, and values out of range, are ignored, as the RFC requires.
func ParsePrefer(values []string) (f Fault) {
	for _, preference := range slices.Backward(strings.Split(strings.Join(values, ","), ",")) {
		parts := strings.Split(preference, ";")
		switch name, value := assignment(parts[0]); name {
		case "code":
			f.Code = knownCode(value)
			f.Outcome = outcomeOf(f.Code, parts[1:])
		case "delay":
			f.Delay, _ = time.ParseDuration(value) // 0 if it fails
			if f.Delay < 0 || f.Delay > MaxDelay {
				f.Delay = 0
			}
		}
	}
	return f
}

// preferences matches what [Demands] reports.
var preferences = regexp.MustCompile(`(?i)(^|,)\s*(code|delay)\s*=`)

// Demands reports whether a value of Prefer has a preference of this package, also one that [ParsePrefer]
// ignores for its value.
func Demands(value string) bool { return preferences.MatchString(value) }

func knownCode(text string) models.Code {
	for _, c := range models.Codes() {
		if c.Code.String() == text {
			return c.Code
		}
	}
	return 0
}

// outcomeOf returns the outcome in the parameters of a preference, if it fits the code.
func outcomeOf(code models.Code, parameters []string) string {
	for _, parameter := range parameters {
		name, value := assignment(parameter)
		fits := code == models.CodeInternal && value == OutcomeStored || code == models.CodeConflict && value == OutcomeIdentical
		if name == "outcome" && fits {
			return value
		}
	}
	return ""
}

// assignment returns the name, in lower case, and the value of a preference or parameter. Nothing
// that this package accepts has a comma, a semicolon or a character that a quoted string must escape.
func assignment(text string) (name, value string) {
	name, value, _ = strings.Cut(text, "=")
	value = strings.Trim(value, " \t")
	if n := len(value); n >= 2 && value[0] == '"' && value[n-1] == '"' {
		value = value[1 : n-1]
	}
	return strings.ToLower(strings.Trim(name, " \t")), value
}
