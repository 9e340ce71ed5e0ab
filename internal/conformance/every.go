package conformance

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

var (
	// saneID is the pattern in the description of the service.
	saneID = regexp.MustCompile(`^[A-Za-z0-9._~+/=:@-]{1,128}$`)
	// internals matches implementation details: terms of Go and its libraries, file paths.
	internals = regexp.MustCompile(`json:|\bmodels\.|\bstruct\b|runtime error|\.go\b|bbolt|strconv|/data/|jsontext|` +
		`\bunmarshal|\bgoroutine|\bpanic\b|\bgin\b|\bjwt\.|net/http|\bint64\b.*\bGo\b|\bEOF\b|\bnil\b|\.db\b|0x[0-9a-f]{6}`)
)

// everyCases check every response of a run. A server that gets one of them wrong has one failure,
// under the rule of the check, instead of a failure in each case.
func everyCases() []Case {
	seen := map[string]bool{}
	return []Case{
		every("C1.2", "a Plant has status 200", func(h received, a Response, _ values) bool {
			return a.Kind != KindJSON || !h.succeeded() || h.status == 200
		}),
		every("C1.2", "a Plant has no field but name, and tag if it was sent", func(h received, a Response, _ values) bool {
			plant, _ := h.plant()
			return a.Kind != KindJSON || !h.succeeded() || len(plant) <= max(1, len(a.Plant))
		}),
		every("C1.2", "a newline ends a Plant and an Error", func(h received, a Response, _ values) bool {
			return a.Kind != KindJSON || h.isOther() || bytes.HasSuffix(h.body, []byte("\n"))
		}),
		every("C1.2", "the Content-Type of a Plant and an Error is application/json", func(h received, a Response, _ values) bool {
			return a.Kind > KindHead || a.Kind == KindJSON && h.isOther() || h.has("Content-Type", "application/json")
		}),
		every("C1.3", "an Error has status 400", func(h received, a Response, _ values) bool {
			return a.Kind > KindHead || h.succeeded() || h.status == 400
		}),
		every("C1.3", "an Error has exactly the fields error (an int32) and message (not empty)", func(h received, _ Response, _ values) bool {
			_, _, exact := h.failure()
			return h.code() == 0 || exact
		}),
		every("C1.5", "no message contains implementation details", func(h received, _ Response, _ values) bool {
			_, message, _ := h.failure()
			return !internals.MatchString(message)
		}),
		every("C1.6", "X-Request-Id is there once, with up to 128 letters, digits and ._~+/=:@-", func(h received, _ Response, _ values) bool {
			ids := h.header.Values("X-Request-Id")
			return len(ids) == 1 && saneID.MatchString(ids[0])
		}),
		every("C1.6", "no two responses have the same X-Request-Id, unless it was sent", func(h received, a Response, _ values) bool {
			id := h.header.Get("X-Request-Id")
			known := seen[id]
			seen[id] = true
			return !known || id == "" || a.Header["X-Request-Id"] != ""
		}),
		every("C1.6", "X-Content-Type-Options is nosniff", func(h received, _ Response, _ values) bool {
			return h.has("X-Content-Type-Options", "nosniff")
		}),
		every("C1.6", "neither Server nor X-Powered-By reveals the software", func(h received, _ Response, _ values) bool {
			return h.has("Server") && h.has("X-Powered-By")
		}),
		every("C1.6", "Allow is there with error 405, and with no other Error", func(h received, _ Response, _ values) bool {
			return h.code() == 0 || (h.code() == 405) != h.has("Allow")
		}),
		every("C1.6", "WWW-Authenticate: Bearer is there with error 401; only 403 may have it, too", func(h received, _ Response, _ values) bool {
			code, challenge := h.code(), h.header.Get("WWW-Authenticate")
			return code == 0 || code == 403 || code == 401 && strings.HasPrefix(challenge, "Bearer") || code != 401 && challenge == ""
		}),
		every("C1.6", "WWW-Authenticate has an error attribute if a credential was sent", func(h received, a Response, _ values) bool {
			challenge := h.header.Get("WWW-Authenticate")
			return h.code() != 401 || strings.Contains(challenge, a.Challenge) && (a.NoChallenge == "" || !strings.Contains(challenge, a.NoChallenge))
		}),
		every("C1.6", "Retry-After is there with the errors 429, 503 and 507, in seconds", func(h received, _ Response, _ values) bool {
			_, valid := h.retryAfter()
			return valid || !slices.Contains([]int{429, 503, 507}, h.code())
		}),
		every("C4.25", "no message contains the token or the secret", func(h received, _ Response, v values) bool {
			_, message, _ := h.failure()
			return v.redact(message) == message
		}),
	}
}

// everyResponse begins the names of [everyCases].
const everyResponse = "every response: "

func every(rule, name string, check func(received, Response, values) bool) Case {
	return Case{Rule: rule, Name: everyResponse + name, Every: check}
}

// has reports whether the response has exactly these values of a header field.
func (h received) has(name string, values ...string) bool {
	return slices.Equal(h.header.Values(name), values)
}

// isOther reports whether the response is neither a Plant nor an Error, which is a failure of its own.
func (h received) isOther() bool { return !h.succeeded() && h.code() == 0 }

// code returns the value of error, or 0 for any other response than an Error.
func (h received) code() int {
	code, _, _ := h.failure()
	if h.succeeded() {
		return 0
	}
	return code
}

// An everyCheck runs a case of [everyCases].
type everyCheck struct {
	Case

	mu           sync.Mutex
	seen, failed int       // responses
	first        deviation // of the case that comes first in the table
}

// observe checks a response of a case, and reports whether it deviates.
func (e *everyCheck) observe(c Case, v values, h received, a Response) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen++
	if e.Every(h, a, v) {
		return false
	}
	if e.failed++; e.failed == 1 || v.firstID < e.first.v.firstID {
		e.first = deviation{c, v, []received{h}, fmt.Errorf("the first is in %s: %s", c.Rule, c.Name)}
	}
	return true
}

// result returns the outcome, at the end of the run.
func (e *everyCheck) result(ended bool) Result {
	result := Result{Rule: e.Rule, Name: e.Name, Outcome: Passed}
	switch {
	case e.failed > 0:
		result = e.first.result()
		result.Rule, result.Name = e.Rule, e.Name
		result.Responses = e.failed
	case ended:
		result.Outcome, result.Reason = NotRun, reasonEnded
	case e.seen == 0:
		result.Outcome, result.Reason = NotRun, "no case with a response was run"
	}
	return result
}
