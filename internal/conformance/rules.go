package conformance

// A Rule is one rule of the contract.
type Rule struct {
	// ID is its number, such as C2.13.
	ID string
	// Says is the rule in a few words.
	Says string
	// Note says where the rest is proved, if HTTP cannot show all of it.
	Note string
}

// Rules returns the rules in their order.
func Rules() []Rule {
	return []Rule{
		{"C1.1", "One operation, POST /plants; nothing reads, lists, changes or deletes", ""},
		{"C1.2", "Success is 200 with the Plant: name, and tag if one was sent", ""},
		{
			"C1.3", "Every failure is 400 with an Error, even for what is no HTTP",
			"A full disk, a panic and a shutdown cannot be asked for over HTTP; the tests of the server and of the store bring them about.",
		},
		{
			"C1.4", "The member error is the HTTP status number that names the failure",
			"403, 500, 503 and 507 cannot be asked for over HTTP; the tests of the routes bring them about with a store that fails.",
		},
		{"C1.5", "The message names every violation at once, and nothing of the inside", "Every answer of every case is searched for words from the inside of the server."},
		{"C1.6", "WWW-Authenticate, Allow, X-Request-Id, nosniff; nothing says what serves", "Every answer of every case is checked for X-Request-Id, nosniff, and for what gives away what serves."},
		{"C1.7", "<, > and & are sent as they are", ""},
		{"C2.8", "Checks come in order: route, method, credential, media type, size, JSON, NewPlant, store", ""},
		{"C2.9", "The media type is application/json in UTF-8, without a content coding", ""},
		{
			"C2.10", "The body is one JSON text after RFC 8259 and RFC 7493; at most 10,000 levels deep",
			"Noncharacters such as U+FFFE, which RFC 7493 rules out as well, are kept like all others (C2.14).",
		},
		{"C2.11", "Member names match exactly; unknown members are ignored", ""},
		{"C2.12", "Required means present; null is neither a string nor an integer", ""},
		{"C2.13", "id is an integer as JSON Schema has it, exact within int64", ""},
		{
			"C2.14", "name and tag are kept byte for byte",
			"The answer shows what was understood; that the same is kept shows when the identical plant is sent again.",
		},
		{"C2.15", "A body over the limit is refused unread, and the client sees the answer", "How much of it is read is measured by the tests of the server."},
		{"C2.16", "A body cut short stores nothing", ""},
		{"C3.17", "Only /plants is the path; a query is ignored; nothing redirects", ""},
		{"C3.18", "Any other method is error 405 with Allow; methods are case-sensitive", ""},
		{"C3.19", "CORS is off, or on for configured origins, and then on every answer", ""},
		{"C4.20", "Authorization: Bearer and a JWT, once", ""},
		{
			"C4.21", "Only configured algorithms, with keys of their kind; no laxness in the encoding",
			"That a public key is not used as an HMAC secret is checked with --key. The tests of the verifier run all attacks for keys of each kind.",
		},
		{
			"C4.22", "exp and nbf are honoured and are numbers; by default exp may be missing",
			"Demanding exp, iss and aud is a matter of configuration; the tests of the verifier show it.",
		},
		{"C4.23", "Names in a token match exactly; duplicates are refused", ""},
		{
			"C4.24", "HS256 secrets have at least 32 bytes; RS256, PS256, ES256, EdDSA by public key",
			"That a service with a short secret does not start is shown by the tests of the command line. The tests of the verifier show which public keys are refused. Here: secrets that are guessed do not open the door.",
		},
		{
			"C4.25", "Secrets and tokens appear nowhere",
			"Logs and printed configurations are searched by the tests of the command line. Here: no answer repeats a credential.",
		},
		{
			"C5.26", "200 is sent only when the plant is durable",
			"Durability shows when the power fails: the tests of the store cut it at every write. Here: what was answered 200 is there for the next request.",
		},
		{"C5.27", "An id is created once; of racing creates exactly one gets 200", ""},
		{
			"C5.28", "No answer claims more or less than happened",
			"A disk that fails in the middle of a commit is simulated by the tests of the store. Here: what was refused is not there, what was accepted is.",
		},
		{
			"C5.29", "Negative ids sort before positive ones",
			"No operation lists plants over HTTP; the tests of the store show the order. Here: negative ids are ids of their own.",
		},
	}
}
