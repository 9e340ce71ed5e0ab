package conformance

import (
	"fmt"
	"slices"
)

// A Rule is one rule of the contract.
type Rule struct {
	// ID is its number, such as C2.13.
	ID string
	// Text is a summary of the rule.
	Text string
	// Note adds exceptions and advice.
	Note string
}

// rulesNamed returns the rules with these ids, or all rules if there are none.
func rulesNamed(ids []string) (rules []Rule, err error) {
	if len(ids) == 0 {
		return Rules(), nil
	}
	for _, id := range ids {
		i := slices.IndexFunc(Rules(), func(r Rule) bool { return r.ID == id })
		if i < 0 {
			return nil, fmt.Errorf("rule %q: want a rule such as C2.12; see --list", id)
		}
		rules = append(rules, Rules()[i])
	}
	return rules, nil
}

// Rules returns the rules in their order.
func Rules() []Rule {
	return []Rule{
		{"C1.1", "The one operation is POST /plants: clients can't read, list, change or delete plants", ""},
		{"C1.2", "Success is 200 with the Plant: name, and tag if one was sent. Plants and Errors are application/json, and end with a newline", ""},
		{
			"C1.3", "Every failure is 400 with an Error, even for malformed HTTP",
			"A header that begins and doesn't end in time is error 408, and the connection is closed.",
		},
		{
			"C1.4", "error is the HTTP status number that names the failure",
			"A client can't cause 403, 500, 503 and 507.",
		},
		{"C1.5", "The message names every violation at once, and no implementation details", ""},
		{"C1.6", "WWW-Authenticate comes with error 401, Allow with 405, Retry-After with 429, 503 and 507, X-Request-Id and nosniff always. No header field reveals the server software", ""},
		{
			"C1.7", "<, > and & are not escaped. An error on demand equals the real one, except for Preference-Applied",
			"Unless errors on demand are on, Prefer is ignored.",
		},
		{
			"C2.8", "Checks come in order: route, method, credential, media type, size, JSON, NewPlant, store",
			"A rate limit, if configured, is checked after the credential.",
		},
		{"C2.9", "The media type is application/json in UTF-8, without a content coding", ""},
		{
			"C2.10", "The body is one JSON text by RFC 8259 and RFC 7493, at most 10,000 levels deep",
			"Unlike RFC 7493, the contract allows noncharacters such as U+FFFE (C2.14).",
		},
		{"C2.11", "Field names match exactly. Unknown fields are ignored", ""},
		{"C2.12", "Required means present. null is neither a string nor an integer", ""},
		{"C2.13", "id is an integer as in JSON Schema, exact within int64", ""},
		{"C2.14", "name and tag are kept byte for byte", ""},
		{"C2.15", "A body over the limit is refused unread, and the client gets the response", ""},
		{"C2.16", "A body cut short stores nothing", ""},
		{"C3.17", "/plants is the only path. Queries are ignored. Only / may redirect, and only browsers", ""},
		{"C3.18", "Any other method is error 405 with Allow. Methods are case-sensitive", ""},
		{"C3.19", "CORS is off, or on for configured origins, and then on every response", ""},
		{"C4.20", "Authorization: Bearer and a JWT, once", ""},
		{
			"C4.21", "Only configured algorithms, with keys of their kind, in strict encoding",
			"With --key, public keys are tried as HMAC secrets.",
		},
		{
			"C4.22", "exp and nbf are numbers, and honored with a leeway of 5 seconds. By default, exp may be missing",
			"You can configure the server to require exp, iss and aud.",
		},
		{"C4.23", "Names in a token match exactly. Duplicates are refused", ""},
		{"C4.24", "HS256 secrets have at least 32 bytes. RS256, PS256, ES256 and EdDSA use public keys", ""},
		{
			"C4.25", "Secrets and tokens are never revealed",
			"Only the output of `plantstore token`, and the link that `serve` prints on a terminal, contain a token. Of Authorization, responses and logs repeat only a registered scheme.",
		},
		{"C4.25a", "A token's header has at most 2 KiB, and neither it nor the claims nest deeper than 16 levels", "A token without kid is tried with at most four keys."},
		{
			"C4.25b", "While the issuer has never given keys, a token that no key verifies is error 503, not 401",
			"With keys, it is error 401.",
		},
		{
			"C5.26", "200 is sent only when the plant is durable",
			"The next request finds a plant that got 200.",
		},
		{"C5.27", "An id is created once. Of racing creates, exactly one gets 200", ""},
		{
			"C5.28", "No response claims more or less than happened",
			"Accepted plants are stored, and refused ones are not.",
		},
		{
			"C5.29", "Negative ids sort before positive ones",
			"HTTP doesn't show the order. An id and its negative are different ids.",
		},
	}
}
