package conformance

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// check compares a response with the expected one, and returns all deviations.
func (h received) check(a Response, v values, fresh bool) error {
	if a.Optional && h.missing() {
		return fmt.Errorf("%w: the server does not have this path", errNotApplicable)
	}
	faults := []error{h.checkHeader(a, v)}
	if a.NoContinue && h.continued {
		faults = append(faults, errors.New("100 Continue came before the response"))
	}
	for _, piece := range a.Raw {
		if piece = v.fill(piece); !strings.Contains(string(h.body), piece) {
			faults = append(faults, fmt.Errorf("the body lacks %q", piece))
		}
	}
	switch a.Kind {
	case KindJSON:
		faults = append(faults, h.checkJSON(a, v, fresh))
	case KindHead:
		if h.status < 400 {
			faults = append(faults, fmt.Errorf("status %d, want 400", h.status))
		}
	case KindDocument:
		faults = append(faults, h.checkStatus(200))
	case KindPreflight:
		faults = append(faults, h.checkStatus(200, 204))
	}
	return errors.Join(faults...)
}

func (h received) checkStatus(want ...int) error {
	if !slices.Contains(want, h.status) {
		return fmt.Errorf("status %d, want %s", h.status, anyOf(want))
	}
	return nil
}

// missing reports whether the server does not have the path.
func (h received) missing() bool {
	return h.status == http.StatusNotFound || h.code() == http.StatusNotFound
}

// succeeded reports whether the response should be a Plant, not an Error.
func (h received) succeeded() bool { return h.status/100 == 2 }

// checkHeader checks the header fields that the case requires.
func (h received) checkHeader(a Response, v values) error {
	var faults []error
	for _, name := range sortedKeys(a.Header) {
		want := v.fill(a.Header[name])
		got := strings.Join(h.header.Values(name), ", ")
		part, contains := strings.CutPrefix(want, "~")
		if contains && !strings.Contains(strings.ToLower(got), strings.ToLower(part)) || !contains && got != want {
			faults = append(faults, fmt.Errorf("%s is %q, want %s", name, got, describeHeader(name, want)))
		}
	}
	return errors.Join(faults...)
}

var errNoError = errors.New("the body is not an Error: it must have exactly the fields error (an int32) and message (not empty)")

// checkJSON checks that the response is the Plant, or one of the Errors.
func (h received) checkJSON(a Response, v values, fresh bool) error {
	if a.MayBeTaken && !fresh {
		a.Codes = append(slices.Clone(a.Codes), 409)
	}
	if h.succeeded() {
		if !slices.Contains(a.Codes, 200) {
			return fmt.Errorf("%d, want error %s", h.status, anyOf(a.Codes))
		}
		return h.checkPlant(a, v)
	}
	code, message, _ := h.failure()
	if code == 0 {
		return fmt.Errorf("status %d, and %w", h.status, errNoError)
	}
	if !slices.Contains(a.Codes, code) {
		advice := ""
		switch {
		case code == 413:
			advice = "; give the limit of the server with --max-body-bytes"
		case code == 409 && a.MayBeTaken:
			advice = "; --fresh is for an empty store"
		}
		return fmt.Errorf("error %d, want %s%s", code, anyOf(a.Codes), advice)
	}
	return checkMessage(a, message)
}

// plant returns the fields of a Plant. Duplicates and bad UTF-8 are not JSON (C2.10).
func (h received) plant() (fields map[string]jsontext.Value, err error) {
	if err := json.Unmarshal(h.body, &fields); err != nil {
		return nil, fmt.Errorf("the body is not a JSON object: %w", err)
	}
	return fields, nil
}

// checkPlant checks the values of the Plant.
func (h received) checkPlant(a Response, v values) error {
	got, err := h.plant()
	if err != nil {
		return err
	}
	for _, field := range a.Plant {
		var s string
		value, text := got[field.Name], v.fill(field.Text)
		if value.Kind() != '"' || json.Unmarshal(value, &s) != nil || s != text {
			return fmt.Errorf("%s is %s, want %s", field.Name, short(v.redact(string(value)), 80), short(quote(text), 80))
		}
	}
	return nil
}

// failure returns the fields of an Error as far as the body has them, and whether it is exactly an
// Error. The code of any other body is 0.
func (h received) failure() (code int, message string, exact bool) {
	var e struct {
		Code    float64        `json:"error"`
		Message string         `json:"message"`
		More    jsontext.Value `json:",embed"`
	}
	if json.Unmarshal(h.body, &e) != nil {
		return 0, "", false
	}
	exact = len(e.More) == 0 && e.Message != "" && e.Code == math.Trunc(e.Code) && math.Abs(e.Code) <= math.MaxInt32
	return int(e.Code), e.Message, exact
}

func checkMessage(a Response, message string) error {
	var faults []error
	for _, word := range a.Naming {
		if !hasWord(message, word) {
			faults = append(faults, fmt.Errorf("the message does not name %s", word))
		}
	}
	for _, word := range a.NotNaming {
		if hasWord(message, word) {
			faults = append(faults, fmt.Errorf("the message names %s, which is valid", word))
		}
	}
	return errors.Join(faults...)
}

// hasWord reports whether a text contains a word, not as part of another word.
func hasWord(text, word string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`).MatchString(text)
}

// checkTogether compares the messages of a case with each other.
func checkTogether(c Case, all []received) error {
	if c.Racing > 0 {
		return nil
	}
	messages, labels := map[string]string{}, map[string]string{} // by label, by message
	i := 0
	for _, t := range c.Exchanges {
		for _, a := range t.Want {
			if i >= len(all) {
				return nil
			}
			if _, message, _ := all[i].failure(); a.Label != "" {
				if was, known := messages[a.Label]; known && was != message {
					return fmt.Errorf("messages %q and %q, want the same message", was, message)
				}
				if label, known := labels[message]; known && label != a.Label {
					return fmt.Errorf("message %q for both %s and %s", message, label, a.Label)
				}
				messages[a.Label], labels[message] = message, a.Label
			}
			i++
		}
	}
	return nil
}
