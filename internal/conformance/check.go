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
func (h heard) check(a Answer, v values, fresh bool) error {
	faults := []error{h.checkHeader(a, v)}
	if a.NoContinue && h.continued {
		faults = append(faults, errors.New("100 Continue came before the answer"))
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
		faults = append(faults, h.checkStatus(400))
	case KindDocument:
		faults = append(faults, h.checkStatus(200))
	case KindPreflight:
		faults = append(faults, h.checkStatus(200, 204))
	}
	return errors.Join(faults...)
}

func (h heard) checkStatus(want ...int) error {
	if !slices.Contains(want, h.status) {
		return fmt.Errorf("status %d, want %s", h.status, anyOf(want))
	}
	return nil
}

// checkHeader checks what C1.6 asks of every answer, and what the case asks.
func (h heard) checkHeader(a Answer, v values) error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if types := h.header.Values("Content-Type"); a.Kind <= KindHead && !slices.Equal(types, []string{"application/json"}) {
		fault("Content-Type %q, want exactly one application/json", types)
	}
	if ids := h.header.Values("X-Request-Id"); len(ids) != 1 || !saneID.MatchString(ids[0]) {
		fault("X-Request-Id %.200q, want one of up to 200 visible characters", ids)
	}
	if sniff := h.header.Values("X-Content-Type-Options"); !slices.Equal(sniff, []string{"nosniff"}) {
		fault("X-Content-Type-Options %q, want nosniff", sniff)
	}
	for _, name := range []string{"Server", "X-Powered-By"} {
		if values := h.header.Values(name); len(values) > 0 {
			fault("%s: %q gives away what serves", name, values)
		}
	}
	if challenge := h.header.Get("WWW-Authenticate"); a.NoChallenge != "" && strings.Contains(challenge, a.NoChallenge) {
		fault("WWW-Authenticate is %q, want it without %s", challenge, a.NoChallenge)
	}
	for name, want := range a.Header {
		want = v.fill(want)
		got := strings.Join(h.header.Values(name), ", ")
		part, contains := strings.CutPrefix(want, "~")
		if contains && !strings.Contains(strings.ToLower(got), strings.ToLower(part)) || !contains && got != want {
			fault("%s is %q, want %q", name, got, want)
		}
	}
	return errors.Join(faults...)
}

var (
	saneID = regexp.MustCompile(`^[!-~]{1,200}$`)
	// insider finds what only the server's programmers know: words of Go, of
	// its libraries, and paths of files.
	insider = regexp.MustCompile(`json:|\bmodels\.|\bstruct\b|runtime error|\.go\b|bbolt|strconv|/data/|jsontext|` +
		`\bunmarshal|\bgoroutine|\bpanic\b|\bgin\b|\bjwt\.|net/http|\bint64\b.*\bGo\b|\bEOF\b|\bnil\b|\.db\b|0x[0-9a-f]{6}`)
)

// checkJSON checks that the answer is a Plant or an Error and nothing else.
func (h heard) checkJSON(a Answer, v values, fresh bool) error {
	if a.Known && !fresh {
		a.Codes = append(slices.Clone(a.Codes), 409)
	}
	if h.status == http.StatusOK {
		if !slices.Contains(a.Codes, 200) {
			return fmt.Errorf("200, want error %s", anyOf(a.Codes))
		}
		return h.checkPlant(a, v)
	}
	if err := h.checkStatus(200, 400); err != nil {
		return err
	}
	code, message := h.failure()
	if message == "" {
		return fmt.Errorf("the body is no Error: it must have exactly the members error (an int32) and message (not empty)")
	}
	if !slices.Contains(a.Codes, code) {
		return fmt.Errorf("error %d, want %s", code, anyOf(a.Codes))
	}
	return errors.Join(h.checkMessage(a, v, message), h.checkAllow(code), h.checkChallenge(code))
}

// checkPlant checks the members of the Plant; duplicates and bad UTF-8 are no
// JSON (C2.10).
func (h heard) checkPlant(a Answer, v values) error {
	var got map[string]jsontext.Value
	if err := json.Unmarshal(h.body, &got); err != nil {
		return fmt.Errorf("the body is no JSON object: %w", err)
	}
	want := map[string]string{"name": v.fill(a.Name)}
	if a.Tag != nil {
		want["tag"] = v.fill(*a.Tag)
	}
	if len(got) != len(want) {
		return fmt.Errorf("the Plant has %d members, want %d", len(got), len(want))
	}
	for member, text := range want {
		var s string
		if got[member].Kind() != '"' || json.Unmarshal(got[member], &s) != nil || s != text {
			return fmt.Errorf("%s is %s, want %s", member, short(string(got[member]), 80), short(quote(text), 80))
		}
	}
	return nil
}

// failure returns the members of an Error, or 0 and "" if it is none.
func (h heard) failure() (code int, message string) {
	var e struct {
		Code    *float64 `json:"error"`
		Message *string  `json:"message"`
	}
	err := json.Unmarshal(h.body, &e, json.RejectUnknownMembers(true))
	if err != nil || e.Code == nil || e.Message == nil || *e.Code != math.Trunc(*e.Code) || math.Abs(*e.Code) > math.MaxInt32 {
		return 0, ""
	}
	return int(*e.Code), *e.Message
}

func (h heard) checkMessage(a Answer, v values, message string) error {
	var faults []error
	for _, word := range a.Naming {
		if !hasWord(message, word) {
			faults = append(faults, fmt.Errorf("the message does not name %s", word))
		}
	}
	for _, word := range a.Silent {
		if hasWord(message, word) {
			faults = append(faults, fmt.Errorf("the message names %s, with which nothing is wrong", word))
		}
	}
	if found := insider.FindString(message); found != "" {
		faults = append(faults, fmt.Errorf("the message gives away %q", found))
	}
	if strings.Contains(message, v.token) || len(v.secret) > 0 && strings.Contains(message, string(v.secret)) {
		faults = append(faults, errors.New("the message gives away a credential"))
	}
	return errors.Join(faults...)
}

// checkAllow checks that Allow comes with error 405 and with no other.
func (h heard) checkAllow(code int) error {
	allow := h.header.Get("Allow")
	if code == 405 && allow == "" || code != 405 && allow != "" {
		return fmt.Errorf("error %d with Allow %q", code, allow)
	}
	return nil
}

// checkChallenge checks that WWW-Authenticate comes with error 401, and 403
// perhaps, and with no other.
func (h heard) checkChallenge(code int) error {
	challenge := h.header.Get("WWW-Authenticate")
	if code == 401 && !strings.HasPrefix(challenge, "Bearer") || code != 401 && code != 403 && challenge != "" {
		return fmt.Errorf("error %d with WWW-Authenticate %q", code, challenge)
	}
	return nil
}

// hasWord reports whether a word is in a text, not as part of another word.
func hasWord(text, word string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`).MatchString(text)
}

// checkTogether checks what only several answers show.
func checkTogether(c Case, all []heard) error {
	said, labels := map[string]string{}, map[string]string{} // label to message, and back
	ids := map[string]bool{}
	i := 0
	for _, t := range c.Talks {
		for j, a := range t.Want {
			if c.Racing > 0 || i >= len(all) {
				return nil
			}
			id := all[i].header.Get("X-Request-Id")
			if _, asked := t.Want[j].Header["X-Request-Id"]; ids[id] && !asked {
				return fmt.Errorf("two answers have the X-Request-Id %q", id)
			}
			ids[id] = true
			if _, message := all[i].failure(); a.Says != "" {
				if was, known := said[a.Says]; known && was != message {
					return fmt.Errorf("messages %q and %q, want the same for both", was, message)
				}
				if label, known := labels[message]; known && label != a.Says {
					return fmt.Errorf("message %q for %s and for %s alike", message, label, a.Says)
				}
				said[a.Says], labels[message] = message, a.Says
			}
			i++
		}
	}
	return nil
}
