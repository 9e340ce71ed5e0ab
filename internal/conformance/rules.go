package conformance

import "fmt"

// A Rule is one rule of the contract.
type Rule struct {
	// ID is its number, such as C2.13.
	ID string
	// Text is a summary of the rule.
	Text string
	// Note adds exceptions and advice, and names the tests of the part that requests cannot show.
	Note string
}

// rulesNamed returns the rule with an id, or all rules if it is empty.
func rulesNamed(id string) ([]Rule, error) {
	if id == "" {
		return Rules(), nil
	}
	for _, r := range Rules() {
		if r.ID == id {
			return []Rule{r}, nil
		}
	}
	return nil, fmt.Errorf("rule %q: want a rule such as C2.12; see --list", id)
}

// Rules returns the rules in their order.
func Rules() []Rule {
	return []Rule{
		{
			"C1.1", "One operation, POST /plants; there is none to read, list, change or delete plants",
			"The reset of an ephemeral server is on the admin listener.",
		},
		{
			"C1.2", "Success is 200 with the Plant: name, and tag if one was sent; a JSON response ends with a newline",
			"A client must not rely on the newline.",
		},
		{
			"C1.3", "Every failure is 400 with an Error, even for malformed HTTP",
			"A client cannot cause a full disk, a panic or a shutdown; the tests of the server and of the store do.",
		},
		{
			"C1.4", "error is the HTTP status number that names the failure",
			"A client cannot cause 403, 500, 503 and 507; the tests of the routes do, with a store that fails.",
		},
		{"C1.5", "The message names every violation at once, and no implementation details", "Every response of every case is searched for implementation details of the server."},
		{"C1.6", "WWW-Authenticate, Allow, Retry-After, X-Request-Id, nosniff; no header field reveals the server software", "Every response of every case is checked for X-Request-Id, nosniff, and fields that reveal the server software."},
		{
			"C1.7", "<, > and & are not escaped; a fault on demand equals the real response, except for Preference-Applied",
			"Prefer is ignored unless faults on demand are switched on; the end-to-end tests compare each fault with the real response.",
		},
		{
			"C2.8", "Checks come in order: route, method, credential, media type, size, JSON, NewPlant, store",
			"If a rate limit is configured, the limit of the token's subject is checked after the credential; the tests of the routes show it.",
		},
		{"C2.9", "The media type is application/json in UTF-8, without a content coding", ""},
		{
			"C2.10", "The body is one JSON text after RFC 8259 and RFC 7493; at most 10,000 levels deep",
			"Noncharacters such as U+FFFE, which RFC 7493 rules out as well, are kept like all others (C2.14).",
		},
		{"C2.11", "Field names match exactly; unknown fields are ignored", ""},
		{"C2.12", "Required means present; null is neither a string nor an integer", ""},
		{"C2.13", "id is an integer as in JSON Schema, exact within int64", ""},
		{
			"C2.14", "name and tag are kept byte for byte",
			"The response shows how the server decoded the plant. Sending the identical plant again shows what it stored.",
		},
		{"C2.15", "A body over the limit is refused unread, and the client gets the response", "The tests of the server measure how much of it is read."},
		{"C2.16", "A body cut short stores nothing", ""},
		{"C3.17", "Only /plants is the path; a query is ignored; nothing redirects", ""},
		{"C3.18", "Any other method is error 405 with Allow; methods are case-sensitive", ""},
		{"C3.19", "CORS is off, or on for configured origins, and then on every response", ""},
		{"C4.20", "Authorization: Bearer and a JWT, once", ""},
		{
			"C4.21", "Only configured algorithms, with keys of their kind; strict encoding",
			"With --key, public keys are tried as HMAC secrets. The tests of the verifier run all attacks for each kind of key.",
		},
		{
			"C4.22", "exp and nbf are honoured and are numbers; by default exp may be missing",
			"Whether exp, iss and aud are required is configurable; the tests of the verifier cover it.",
		},
		{"C4.23", "Names in a token match exactly; duplicates are refused", ""},
		{
			"C4.24", "HS256 secrets have at least 32 bytes; RS256, PS256, ES256, EdDSA by public key",
			"The tests of the command line show that a server with a short secret does not start, those of the verifier which public keys are refused. Here: guessed secrets are refused.",
		},
		{
			"C4.25", "Secrets and tokens are never revealed",
			"Only the output of `plantstore token`, and the link that `serve` prints on a terminal, contain a token. The tests of the command line search logs and printed configurations. Here: no response repeats a credential.",
		},
		{
			"C5.26", "200 is sent only when the plant is durable",
			"The tests of the store simulate a power failure at every write. Here: the next request finds a plant that got 200.",
		},
		{"C5.27", "An id is created once; of racing creates exactly one gets 200", ""},
		{
			"C5.28", "No response claims more or less than happened",
			"The tests of the store simulate a disk that fails during a commit. Here: accepted plants are stored, refused ones are not.",
		},
		{
			"C5.29", "Negative ids sort before positive ones",
			"No HTTP operation lists plants; the tests of the store show the order. Here: an id and its negative are different ids.",
		},
	}
}
