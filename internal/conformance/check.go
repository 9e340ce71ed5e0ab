package conformance

import (
	"bytes"
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
	faults := []error{h.checkHeader(a, v)}
	if a.NoContinue && h.continued {
		faults = append(faults, errors.New("100 Continue came before the response"))
	}
	for _, piece := range a.Raw {
		if piece = v.fill(piece); !strings.Contains(string(h.body), piece) {
			faults = append(faults, fmt.Errorf("the body lacks %q", piece))
		}
	}
	if a.Newline && !bytes.HasSuffix(h.body, []byte("\n")) {
		faults = append(faults, errors.New("the body does not end with a newline"))
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

func (h received) checkStatus(want ...int) error {
	if !slices.Contains(want, h.status) {
		return fmt.Errorf("status %d, want %s", h.status, anyOf(want))
	}
	return nil
}

// checkHeader checks the header fields that C1.6 and the case require.
func (h received) checkHeader(a Response, v values) error {
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
			fault("%s: %q reveals the server software", name, values)
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
	// internals matches implementation details: terms of Go and its libraries, file paths.
	internals = regexp.MustCompile(`json:|\bmodels\.|\bstruct\b|runtime error|\.go\b|bbolt|strconv|/data/|jsontext|` +
		`\bunmarshal|\bgoroutine|\bpanic\b|\bgin\b|\bjwt\.|net/http|\bint64\b.*\bGo\b|\bEOF\b|\bnil\b|\.db\b|0x[0-9a-f]{6}`)
)

// checkJSON checks that the response is exactly a Plant or an Error.
func (h received) checkJSON(a Response, v values, fresh bool) error {
	if a.MayBeTaken && !fresh {
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
		return fmt.Errorf("the body is not an Error: it must have exactly the fields error (an int32) and message (not empty)")
	}
	if !slices.Contains(a.Codes, code) {
		return fmt.Errorf("error %d, want %s", code, anyOf(a.Codes))
	}
	return errors.Join(h.checkMessage(a, v, message), h.checkAllow(code), h.checkChallenge(code), h.checkRetryAfter(code))
}

// checkPlant checks the fields of the Plant. Duplicates and bad UTF-8 are not JSON (C2.10).
func (h received) checkPlant(a Response, v values) error {
	var got map[string]jsontext.Value
	if err := json.Unmarshal(h.body, &got); err != nil {
		return fmt.Errorf("the body is not a JSON object: %w", err)
	}
	want := map[string]string{"name": v.fill(a.Name)}
	if a.Tag != nil {
		want["tag"] = v.fill(*a.Tag)
	}
	if len(got) != len(want) {
		return fmt.Errorf("the Plant has %d fields, want %d", len(got), len(want))
	}
	for field, text := range want {
		var s string
		if got[field].Kind() != '"' || json.Unmarshal(got[field], &s) != nil || s != text {
			return fmt.Errorf("%s is %s, want %s", field, short(string(got[field]), 80), short(quote(text), 80))
		}
	}
	return nil
}

// failure returns the fields of an Error, or 0 and "" for any other body.
func (h received) failure() (code int, message string) {
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

func (h received) checkMessage(a Response, v values, message string) error {
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
	if found := internals.FindString(message); found != "" {
		faults = append(faults, fmt.Errorf("the message contains the implementation detail %q", found))
	}
	if strings.Contains(message, v.token) || len(v.secret) > 0 && strings.Contains(message, string(v.secret)) {
		faults = append(faults, errors.New("the message contains a credential"))
	}
	return errors.Join(faults...)
}

// checkAllow checks that error 405 has the field Allow, and other errors do not.
func (h received) checkAllow(code int) error {
	allow := h.header.Get("Allow")
	if code == 405 && allow == "" || code != 405 && allow != "" {
		return fmt.Errorf("error %d with Allow %q", code, allow)
	}
	return nil
}

// checkChallenge checks that error 401 has the field WWW-Authenticate, that error 403
// may have it, and that other errors do not.
func (h received) checkChallenge(code int) error {
	challenge := h.header.Get("WWW-Authenticate")
	if code == 401 && !strings.HasPrefix(challenge, "Bearer") || code != 401 && code != 403 && challenge != "" {
		return fmt.Errorf("error %d with WWW-Authenticate %q", code, challenge)
	}
	return nil
}

// checkRetryAfter checks that error 429 has the field Retry-After, in seconds. Other errors
// may have it.
func (h received) checkRetryAfter(code int) error {
	if _, ok := h.retryAfter(); code == 429 && !ok {
		return fmt.Errorf("error 429 with Retry-After %q, want a number of seconds, at least 1", h.header.Values("Retry-After"))
	}
	return nil
}

// hasWord reports whether a text contains a word, not as part of another word.
func hasWord(text, word string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`).MatchString(text)
}

// checkTogether compares the responses of a case with each other.
func checkTogether(c Case, all []received) error {
	messages, labels := map[string]string{}, map[string]string{} // by label, by message
	ids := map[string]bool{}
	i := 0
	for _, t := range c.Exchanges {
		for j, a := range t.Want {
			if c.Racing > 0 || i >= len(all) {
				return nil
			}
			id := all[i].header.Get("X-Request-Id")
			if _, fixed := t.Want[j].Header["X-Request-Id"]; ids[id] && !fixed {
				return fmt.Errorf("two responses have the X-Request-Id %q", id)
			}
			ids[id] = true
			if _, message := all[i].failure(); a.Label != "" {
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
