package conformance

import (
	"slices"
	"strings"
)

const (
	corsRule = "C3.19"
	own      = "Origin: {{origin}}"
	// nowhere is an origin that no server has in its configuration.
	nowhere = "https://conformance.invalid"
	foreign = "Origin: " + nowhere
)

// allowing returns a response that a page of the allowed origin may read.
func allowing(a Response) Response {
	return a.header("Access-Control-Allow-Origin", "{{allowed}}")
}

// barring returns a response without CORS fields.
func barring(a Response) Response {
	for _, name := range []string{"Origin", "Methods", "Headers", "Credentials"} {
		a = a.header("Access-Control-Allow-"+name, "")
	}
	return a
}

// preflight returns a browser's preflight of a create.
func preflight(path, origin string) Request {
	return bare("OPTIONS {{path}}"+path).with(origin, "Access-Control-Request-Method: POST",
		"Access-Control-Request-Headers: authorization,content-type")
}

// preflighted returns the response to a preflight.
func preflighted() Response {
	return allowing(Response{Kind: KindPreflight}).
		header("Access-Control-Allow-Methods", "~POST").header("Access-Control-Allow-Headers", "~authorization")
}

// corsCases are about CORS (C3.19).
func corsCases() []Case {
	cases := []Case{
		one(corsRule, "a create from an origin that is not allowed", good().with(foreign), barring(fern())),
		one(corsRule, "an error for an origin that is not allowed", post(`{}`).with(foreign), barring(fails(422))),
		one(corsRule, "a refusal for an origin that is not allowed", bare("GET /%zz").with(foreign), barring(fails(400))).wire(),
		one(corsRule, "origin null", good().with("Origin: null"), barring(fern())),
		one(corsRule, "a preflight of an origin that is not allowed", preflight("/plants", foreign), barring(fails(403, 405))),
	}
	for i := range cases {
		cases[i] = cases[i].needs(NeedForeign)
	}
	cases = append(cases,
		one(corsRule, "two origins at once, one of them allowed", good().with(own, foreign), barring(fern())).needs(NeedOrigin|NeedForeign),
		one(corsRule, "more than the allowed origin", good().with(own+".evil.invalid"), barring(fern())).needs(NeedOrigin|NeedForeign),
		one(corsRule, "without Origin, the response has Vary: Origin, for caches", good(), fern().header("Vary", "~Origin")).needs(NeedOrigin|NeedForeign),
		one(corsRule, "a preflight of the allowed origin, without a credential", preflight("/plants", own), preflighted()).kept().needs(NeedOrigin),
		one(corsRule, "a preflight of an unknown path", preflight("/nowhere", own), preflighted()).needs(NeedOrigin),
		one(corsRule, "a preflight that breaks off", preflight("/plants", own), allowing(fails(400))).cut(2, ThenHalfClose).needs(NeedAll),
		one(corsRule, "OPTIONS that is not a preflight", bare("OPTIONS {{path}}/plants").with(own), allowing(fails(405))).needs(NeedOrigin),
		one(corsRule, "a create from the allowed origin", good().with(own),
			allowing(fern()).header("Access-Control-Expose-Headers", "~X-Request-Id")).needs(NeedOrigin),
		one(corsRule, "a name of the header in small letters", good().with(strings.ToLower(own[:7])+own[7:]), allowing(fern())).needs(NeedOrigin),
	)
	return append(cases, readableErrors()...)
}

// readableErrors are errors of all kinds for a page of the allowed origin: those of the service, and
// responses of HTTP libraries if all origins are allowed.
func readableErrors() []Case {
	return slices.Concat(readable(NeedOrigin, []failing{
		{"400", post(`{`), fails(400)},
		{"401", good().without("Authorization"), fails(401).header("Access-Control-Expose-Headers", "~WWW-Authenticate")},
		{"404", target("{{path}}/nowhere"), fails(404)},
		{"405", bare("GET {{path}}/plants"), fails(405).header("Access-Control-Expose-Headers", "~Allow")},
		{"405, for HEAD", bare("HEAD {{path}}/plants"), Response{Kind: KindHead}},
		{"413", post(`{"id":{{id}},"name":"{{fill}}"}`).sized(1), fails(413)},
		{"415", good().replace("Content-Type: text/plain"), fails(415)},
		{"422", post(`{}`), fails(422)},
	}), readable(NeedAll, []failing{
		{"400, of a request that is not HTTP", bare("POST {{path}}/plants x").with(own), fails(400)},
		{"400, of a target with a malformed escape", bare("POST /%zz"), fails(400)},
		{"400, of a malformed line after the origin", bare("POST {{path}}/plants").with(own, "no colon"), fails(400)},
		{"400, of a malformed line before the origin", bare("POST {{path}}/plants").with("no colon"), fails(400)},
		{"400, of a second Host", bare("POST {{path}}/plants").with("Host: {{host}}"), fails(400)},
		{"417", good().with("Expect: a-miracle"), fails(417)},
		{"431, of a long line before the origin", bare("POST {{path}}/plants?" + strings.Repeat("x", 2<<20)), fails(431)},
		{"431, of a long line after the origin", bare("POST {{path}}/plants").with(own, "X-Filler: "+strings.Repeat("x", 2<<20)), fails(431)},
		{"501", good().replace("Transfer-Encoding: gzip").without("Content-Length"), fails(501)},
		{"505", Request{Line: "POST {{path}}/plants HTTP/3.0", Header: []string{"Host: {{host}}"}}, fails(505)},
	}))
}

// A failing is a request that is refused.
type failing struct {
	name string
	r    Request
	a    Response
}

// readable returns the cases of failing requests, to which Origin is added unless they have it.
func readable(needs Need, all []failing) []Case {
	var cases []Case
	for _, v := range all {
		if !strings.Contains(strings.Join(v.r.Header, "\n"), own) {
			v.r = v.r.with(own)
		}
		cases = append(cases, one(corsRule, "an error "+v.name+", for the allowed origin", v.r, allowing(v.a)).needs(needs))
	}
	return cases
}
