package conformance

import "strings"

// orderCases have two faults each, and show which one is reported (C2.8).
func orderCases() []Case {
	const rule = "C2.8"
	noToken := func(r Request) Request { return r.without("Authorization") }
	text := func(r Request) Request { return r.replace("Content-Type: text/plain") }
	return []Case{
		one(rule, "path before credential", noToken(target("{{path}}/trees")), fails(404)),
		one(rule, "path before method", bare("DELETE {{path}}/trees"), fails(404)),
		one(rule, "method before credential", bare("GET {{path}}/plants"), fails(405)),
		one(rule, "method before media type", text(good()).line("PUT {{path}}/plants HTTP/1.1"), fails(405)),
		one(rule, "credential before media type", noToken(text(good())), noCredential()),
		one(rule, "credential before content coding", noToken(good().with("Content-Encoding: gzip")), noCredential()),
		one(rule, "credential before size", noToken(good().replace("Content-Length: 1099511627776")), noCredential()),
		one(rule, "credential before JSON", noToken(post(`{`)), noCredential()),
		one(rule, "credential before NewPlant", noToken(post(`{}`)), noCredential()),
		one(rule, "a bad token before everything in the body", post(`{`).replace("Authorization: Bearer a.b.c").replace("Content-Type: text/plain"), badToken()),
		one(rule, "without a credential, the server does not wait for the body", noToken(post(strings.Repeat(" ", 1000))), noCredential()).cut(1000, ThenReceive),
		one(rule, "without a credential, the body is not requested", noToken(good().with("Expect: 100-continue")), noCredential().uninvited()).cut(37, ThenReceive),
		one(rule, "with a wrong media type, the server does not wait for the body", text(post(strings.Repeat(" ", 1000))), fails(415)).cut(1000, ThenReceive),
		one(rule, "media type before size", text(good().replace("Content-Length: 1099511627776")), fails(415)),
		one(rule, "media type before JSON", text(post(`{`)), fails(415)),
		one(rule, "media type before NewPlant", text(post(`{}`)), fails(415)),
		one(rule, "size before JSON", post(`{{fill}}`).sized(1), fails(413)),
		one(rule, "size before NewPlant", post(`{"tag":"{{fill}}"}`).sized(1), fails(413)),
		body(rule, "JSON before NewPlant: a fault after a wrong field", `{"id":"1","name":null,"tag":}`, fails(400)),
		body(rule, "JSON before NewPlant: a duplicate", `{"name":1,"name":1}`, fails(400)),
		body(rule, "JSON before NewPlant: text behind it", `{} x`, fails(400)),
		one(rule, "NewPlant before store", good(), fern()).then(post(`{"id":{{id}},"name":null}`), invalid("name")),
		one(rule, "JSON before store", good(), fern()).then(post(`{"id":{{id}},"name":"fern",}`), fails(400)),
	}
}

// uninvited forbids the interim response 100, which requests the body.
func (a Response) uninvited() Response { a.NoContinue = true; return a }

// mediaCases are about media types and content codings (C2.9).
func mediaCases() []Case {
	const rule = "C2.9"
	var cases []Case
	for _, v := range []string{
		"application/json", "Application/JSON", "APPLICATION/JSON",
		"application/json; charset=utf-8", "application/json;charset=UTF-8", `application/json; charset="utf-8"`,
		"application/json ; charset=utf-8", "application/json; Charset=Utf-8", "application/json; profile=plants", `application/json; a="b;c"; charset=utf-8`,
	} {
		cases = append(cases, one(rule, "accepted: "+v, good().replace("Content-Type: "+v), fern()))
	}
	for _, v := range []string{
		"text/plain", "text/json", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
		"application/vnd.api+json", "application/problem+json", "application/json5", "application/json-seq", "application/x-ndjson", "application/jsonp",
		"*/*", "application/*", "application/", "json", "/json", "application / json", "application/json/x", "xapplication/json",
		"application/json; charset=iso-8859-1", "application/json; charset=utf-16", "application/json; charset=utf8", "application/json; charset=",
		"application/json, text/plain", "text/plain, application/json", "application/json; charset=utf-8; charset=utf-16",
	} {
		cases = append(cases, one(rule, "refused: "+v, good().replace("Content-Type: "+v), fails(415)))
	}
	cases = append(cases,
		one(rule, "no Content-Type", good().without("Content-Type"), fails(415)),
		one(rule, "an empty Content-Type", good().replace("Content-Type:"), fails(415)),
		one(rule, "the same Content-Type twice", good().with("Content-Type: application/json"), fails(415)),
		one(rule, "two different Content-Types", good().with("Content-Type: text/plain"), fails(415)),
		one(rule, "Accept does not matter", good().with("Accept: text/html"), fern()),
		one(rule, "coding identity", good().with("Content-Encoding: identity"), fern()),
		one(rule, "coding identity in another case", good().with("Content-Encoding: Identity"), fern()),
		one(rule, "coding gzip of a gzipped body", gzipped().with("Content-Encoding: gzip"), fails(415)),
		one(rule, "gzip without Content-Encoding", gzipped(), fails(400)),
	)
	for _, v := range []string{"gzip", "br", "deflate", "zstd", "identity, gzip", "gzip, identity", "x-unknown"} {
		cases = append(cases, one(rule, "coding "+v, good().with("Content-Encoding: "+v), fails(415)))
	}
	return append(cases, one(rule, "two codings in two fields", good().with("Content-Encoding: identity", "Content-Encoding: gzip"), fails(415)))
}

// gzipped is a create whose body is {"id":1,"name":"x"}, compressed.
func gzipped() Request {
	return post("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\xca\x4c\x51\xb2\x32\xd4\x51\xca\x4b\xcc\x4d\x55\xb2\x52\xaa\x50\xaa\x05\x00\x1a\xd1\x7a\x81\x13\x00\x00\x00")
}

// sizeCases are about the limit of a body (C2.15).
func sizeCases() []Case {
	const rule = "C2.15"
	named := post(`{"id":{{id}},"name":"{{fill}}"}`)
	unknown := post(`{"id":{{id}},"name":"fern","u":"{{fill}}"}`)
	const more = 2 << 20
	return []Case{
		one(rule, "exactly the limit", unknown, fern()),
		one(rule, "exactly the limit, chunked", unknown.chunked(4096), fern()),
		one(rule, "one byte less", unknown.sized(-1), fern()).kept(),
		one(rule, "one byte over", unknown.sized(1), fails(413)),
		one(rule, "one byte over, chunked", unknown.chunked(4096).sized(1), fails(413)),
		one(rule, "one byte over, in one long name", named.sized(1), fails(413)),
		one(rule, "over, by white space behind the value", post(`{"id":{{id}},"name":"fern"}{{space}}`).sized(1), fails(413)),
		one(rule, "exactly the limit, by white space behind the value", post(`{"id":{{id}},"name":"fern"}{{space}}`), fern()),
		one(rule, "over, by an unknown field", unknown.sized(1000), fails(413)),
		one(rule, "three times as long, all of it sent", unknown.sized(more), fails(413)),
		one(rule, "three times as long, chunked, all of it sent", unknown.chunked(65536).sized(more), fails(413)),
		one(rule, "announced, not sent", good().replace("Content-Length: 10737418240"), fails(413)),
		one(rule, "announced, with 100-continue: not requested", good().replace("Content-Length: 10737418240").with("Expect: 100-continue"), fails(413).uninvited()),
		one(rule, "a refused plant is not stored", unknown.sized(1), fails(413)).then(good(), fern()),
		one(rule, "a long name within the limit", post(`{"id":{{id}},"name":"`+strings.Repeat("n", 100_000)+`"}`), plant(strings.Repeat("n", 100_000))),
	}
}

// cutCases send incomplete bodies, and bodies whose length differs from the announced one (C2.16).
// The id is still free after that, so nothing was stored.
func cutCases() []Case {
	const rule = "C2.16"
	padded := post(`{"id":{{id}},"name":"fern"}   `)
	return []Case{
		one(rule, "half-closed in the middle of the value", good(), fails(400)).cut(10, ThenHalfClose).then(good(), fern()),
		one(rule, "half-closed before the body", good(), fails(400)).cut(37, ThenHalfClose).then(good(), fern()),
		one(rule, "half-closed after a complete value, some white space missing", padded, fails(400)).cut(2, ThenHalfClose).then(good(), fern()),
		one(rule, "half-closed after a complete value, the last chunk missing", good().chunked(64), fails(400)).cut(5, ThenHalfClose).then(good(), fern()),
		one(rule, "half-closed within a chunk", good().chunked(64), fails(400)).cut(12, ThenHalfClose).then(good(), fern()),
		one(rule, "closed in the middle of the value", good(), Response{}).cut(10, ThenDrop).then(good(), fern()),
		one(rule, "closed after a complete value, some white space missing", padded, Response{}).cut(2, ThenDrop).then(good(), fern()),
		one(rule, "closed after a complete value, the last chunk missing", good().chunked(64), Response{}).cut(5, ThenDrop).then(good(), fern()),
		one(rule, "a length longer than the body", good().replace("Content-Length: 1000"), fails(400)).cut(0, ThenHalfClose).then(good(), fern()),
		one(rule, "a length shorter than the body", good().replace("Content-Length: 10"), fails(400)).last(func(t *Exchange) { t.More = true }).then(good(), fern()),
	}
}
