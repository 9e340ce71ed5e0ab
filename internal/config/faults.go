package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"plantstore/models"
)

// Faults is the value of FAULTS.
type Faults struct {
	// On lets requests demand faults.
	On bool
	// Always allows that with a permanent store, too.
	Always bool
	// Rates are the faults of requests that demand none.
	Rates []models.FaultRate
}

func faultOptions() []Option {
	return []Option{{
		Env: "FAULTS", Flag: "faults", Default: "off",
		Help: "`faults` on demand, by the header field Prefer, for tests of clients: off, on, always, or rates (code=503:1%)",
		set:  parsed(parseFaults, func(c *Config) *Faults { return &c.Faults }),
	}}
}

// parseFaults parses a comma-separated list of on, always and rates.
func parseFaults(v string) (f Faults, err error) {
	if v == "off" {
		return Faults{}, nil
	}
	failures := 0.0
	for item := range strings.SplitSeq(v, ",") {
		switch item = strings.Trim(item, " "); item {
		case "on":
		case "always":
			f.Always = true
		default:
			rate, err := parseFaultRate(item)
			if err != nil {
				if item != v { // else the value is in the error already
					err = fmt.Errorf("%q: %w", item, err)
				}
				return Faults{}, err
			}
			if rate.Code != 0 {
				failures += rate.Percent
			}
			f.Rates = append(f.Rates, rate)
		}
	}
	if failures > 100 {
		return Faults{}, errors.New("the rates of failures are more than 100% in all")
	}
	f.On = true
	return f, nil
}

// parseFaultRate parses a preference and its rate, such as code=503:1%.
func parseFaultRate(text string) (r models.FaultRate, err error) {
	preference, percent, _ := strings.Cut(text, ":")
	number, isPercent := strings.CutSuffix(percent, "%")
	r.Percent, err = strconv.ParseFloat(number, 64)
	r.Fault = models.ParsePrefer([]string{preference})
	if err != nil || !isPercent || !isExact(preference, r.Fault) || math.IsNaN(r.Percent) || r.Percent <= 0 || r.Percent > 100 || r.Fault == (models.Fault{}) {
		return r, fmt.Errorf("must be off, on, always, or rates of error codes of the service and of delays up to %v, such as code=503:1%%,delay=200ms:10%%",
			models.MaxDelay)
	}
	return r, nil
}

// isExact reports whether a preference has nothing but f: requests may have parameters that
// are ignored, but in the configuration they are mistakes.
func isExact(preference string, f models.Fault) bool {
	_, parameters, _ := strings.Cut(preference, ";")
	if f.Outcome == "" {
		return parameters == ""
	}
	return strings.TrimSpace(parameters) == "outcome="+f.Outcome
}

// CheckFaults returns an error if FAULTS needs an ephemeral store.
func (c *Config) CheckFaults(ephemeral bool) error {
	if !c.Faults.On || c.Faults.Always || ephemeral {
		return nil
	}
	return fmt.Errorf("FAULTS (--faults): %q: the store is permanent, and its clients may not expect faults; "+
		"start with --ephemeral, or add always, as in always,code=503:1%%", c.values["FAULTS"].text)
}
