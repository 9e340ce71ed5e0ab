package conformance

import (
	"slices"
	"strings"
)

// refusalCases send malformed HTTP, and requests that no handler sees (C1.3).
func refusalCases() []Case {
	const rule = "C1.3"
	cases := []Case{
		one(rule, "HTTP/2 preface", raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), fails(505)).closed(),
		one(rule, "HTTP/2.0", bareVersion("HTTP/2.0"), fails(505)).closed(),
		one(rule, "HTTP/9.9", bareVersion("HTTP/9.9"), fails(505)).closed(),
		one(rule, "HTTP/0.9", raw("GET /\r\n\r\n"), fails(400)).closed(),
		one(rule, "plain HTTP to a TLS port", good(), fails(400)).last(func(t *Exchange) { t.Plain = true }).needs(NeedTLS),
		one(rule, "unknown expectation", good().with("Expect: 200-ok"), fails(417)),
		one(rule, "100-continue with a parameter", good().with("Expect: 100-continue;a=b"), fails(417)),
		one(rule, "a folded line is joined or refused", good().with("X-Y: a", " b"), fern().or(400)),
		one(rule, "a line folded by a tab is joined or refused", good().with("X-Y: a", "\tb"), fern().or(400)),
		one(rule, "a folded Transfer-Encoding is joined or refused", good().chunked(7).replace("Transfer-Encoding:\r\n chunked"), fern().or(400)),
		one(rule, "a folded Content-Length is joined or refused", good().replace("Content-Length:\r\n {{length}}"), fern().or(400)),
		one(rule, "a header field of 2 MiB", good().with("X-Long: "+strings.Repeat("a", 2<<20)), fails(431)).closed(),
		one(rule, "50,000 header fields", good().with(strings.Fields(strings.Repeat("X-Many:0123456789012345678901234567890123456789 ", 50_000))...), fails(431)).closed(),
		one(rule, "a header of more than 16 KiB", good().with(slices.Repeat([]string{"X-Long: " + strings.Repeat("a", 4<<10)}, 4)...), fails(431)),
		one(rule, "a header of more than 100 fields", good().with(slices.Repeat([]string{"X-Many: a"}, 100)...), fails(431)),
		one(rule, "a header of 12 KiB with 80 fields", good().with(slices.Repeat([]string{"X-Many: " + strings.Repeat("a", 145)}, 75)...), fern()),
		one(rule, "a request target of 2 MiB", bare("GET {{path}}/"+strings.Repeat("a", 2<<20)), fails(431)).closed(),
		one(rule, "a wrong path", target("{{path}}/flowers"), fails(404)),
		one(rule, "HEAD of an unknown path", bare("HEAD {{path}}/flowers"), Response{Kind: KindHead}),
		one(rule, "OPTIONS *", bare("OPTIONS *"), fails(404)).wire(),
		one(rule, "CONNECT to a host", Request{Line: "CONNECT plants.invalid:443 HTTP/1.1", Header: []string{"Host: plants.invalid:443"}}, fails(400, 404, 405)),
		one(rule, "a response after the client has closed its half", good(), fern()).cut(0, ThenHalfClose),
	}
	for _, v := range []variant{
		{"one word as request line", "nonsense\r\n\r\n"},
		{"two words as request line", "POST {{path}}/plants\r\nHost: {{host}}\r\n\r\n"},
		{"no method", " {{path}}/plants HTTP/1.1\r\nHost: {{host}}\r\n\r\n"},
		{"no target", "POST  HTTP/1.1\r\nHost: {{host}}\r\n\r\n"},
		{"a space in the target", "POST {{path}}/pla nts HTTP/1.1\r\nHost: {{host}}\r\n\r\n"},
		{"a target without a slash", "POST plants HTTP/1.1\r\nHost: {{host}}\r\n\r\n"},
		{"a malformed escape in the path", "POST {{path}}/%zzplants HTTP/1.1\r\nHost: {{host}}\r\n\r\n"},
		{"a backslash as slash", "POST \\plants HTTP/1.1\r\nHost: {{host}}\r\n\r\n"},
		{"a control character in the target", "POST {{path}}/pl\x01ants HTTP/1.1\r\nHost: {{host}}\r\n\r\n"},
		{"a method that is not a token", "PO(ST {{path}}/plants HTTP/1.1\r\nHost: {{host}}\r\n\r\n"},
		{"version in lower case", "POST {{path}}/plants http/1.1\r\nHost: {{host}}\r\n\r\n"},
		{"version without a number", "POST {{path}}/plants HTTP/x\r\nHost: {{host}}\r\n\r\n"},
		{"version with two digits", "POST {{path}}/plants HTTP/1.10\r\nHost: {{host}}\r\n\r\n"},
		{"another protocol's name", "POST {{path}}/plants FTP/1.1\r\nHost: {{host}}\r\n\r\n"},
		{"no Host", "POST {{path}}/plants HTTP/1.1\r\nContent-Length: 0\r\n\r\n"},
		{"two Hosts", "POST {{path}}/plants HTTP/1.1\r\nHost: {{host}}\r\nHost: {{host}}\r\n\r\n"},
		{"a malformed Host", "POST {{path}}/plants HTTP/1.1\r\nHost: a b\r\n\r\n"},
		{"a header field line without a colon", "POST {{path}}/plants HTTP/1.1\r\nHost: {{host}}\r\nnonsense\r\n\r\n"},
		{"a header field line without a name", "POST {{path}}/plants HTTP/1.1\r\nHost: {{host}}\r\n: nonsense\r\n\r\n"},
		{"a space before the colon", "POST {{path}}/plants HTTP/1.1\r\nHost: {{host}}\r\nContent-Length : 2\r\n\r\n{}"},
		{"a space in a header's name", "POST {{path}}/plants HTTP/1.1\r\nHost: {{host}}\r\nX Y: z\r\n\r\n"},
		{"a header's name that is not a token", "POST {{path}}/plants HTTP/1.1\r\nHost: {{host}}\r\nX(Y): z\r\n\r\n"},
		{"a header's name that is not ASCII", "POST {{path}}/plants HTTP/1.1\r\nHost: {{host}}\r\nX-\xc3\xa9: z\r\n\r\n"},
		{"NUL in a header's value", "POST {{path}}/plants HTTP/1.1\r\nHost: {{host}}\r\nX-Y: a\x00b\r\n\r\n"},
		{"a control character in a header's value", "POST {{path}}/plants HTTP/1.1\r\nHost: {{host}}\r\nX-Y: a\x01b\r\n\r\n"},
		{"the first header field line begins with a space", "POST {{path}}/plants HTTP/1.1\r\n Host: {{host}}\r\n\r\n"},
		{"the first header field line begins with a tab", "POST {{path}}/plants HTTP/1.1\r\n\tHost: {{host}}\r\n\r\n"},
		{"bytes of a TLS ClientHello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"},
		{"random bytes", "\x00\xff\xfe\x01\x80\r\n\r\n"},
	} {
		cases = append(cases, one(rule, v.name, raw(v.text), fails(400)).closed())
	}
	return cases
}

func bareVersion(version string) Request {
	return Request{Line: "POST {{path}}/plants " + version, Header: []string{"Host: {{host}}", "Content-Length: 0"}}
}

// framingCases are about the end of a body and of a connection (C1.3).
func framingCases() []Case {
	const rule = "C1.3"
	bothLengths := good().with("Transfer-Encoding: chunked")
	bothLengths.Chunk = 7
	cases := []Case{
		one(rule, "chunked", good().chunked(7), fern()),
		one(rule, "chunked, a byte a chunk", good().chunked(1), fern()),
		one(rule, "chunked, in another case", good().chunked(7).replace("Transfer-Encoding: Chunked"), fern()),
		one(rule, "chunked, with an extension and a trailer", chunks("25;a=b\r\n"+`{"id":{{id}},"name":"fern"}`+"\r\n0\r\nX-Trailer: z\r\n\r\n"), fern()),
		one(rule, "length and transfer coding at once: the connection closes", bothLengths, fern().or(400)).closed().wire(),
		one(rule, "two transfer codings", good().replace("Transfer-Encoding: gzip, chunked").without("Content-Length"), fails(501)).closed(),
		one(rule, "unknown transfer coding", good().replace("Transfer-Encoding: identity").without("Content-Length"), fails(501)).closed(),
		one(rule, "HTTP/1.0 is served, and closed", good().line("POST {{path}}/plants HTTP/1.0"), fern()).closed(),
		one(rule, "Connection: close is honored", good().with("Connection: close"), fern()).closed(),
		one(rule, "100-continue is honored", good().with("Expect: 100-continue"), fern()),
		one(rule, "a byte at a time", good(), fern()).pieces(1),
		one(rule, "the connection is kept after a create", good(), fern()).kept(),
		one(rule, "the connection is kept after a refused NewPlant", post(`{}`), fails(422)).kept(),
		one(rule, "the connection is kept after malformed JSON", post(`{`), fails(400)).kept(),
		one(rule, "the connection is kept after an id taken", good(), fern()).again(good(), fails(409)).kept(),
		one(rule, "pipelined creates", good(), fern()).
			again(post(`{"id":{{id2}},"name":"moss"}`), plant("moss")).
			again(post(`{"id":{{id3}},"name":"ivy"}`), plant("ivy")).pipelined().kept(),
		one(rule, "pipelined, good and bad", good(), fern()).again(post(`{}`), fails(422)).again(post(`{"id":{{id2}},"name":"ivy"}`), plant("ivy")).pipelined(),
		one(rule, "pipelined, malformed HTTP second", good(), fern()).again(raw("nonsense\r\n\r\n"), fails(400)).pipelined().closed(),
		one(rule, "an empty line before the request is ignored", raw("\r\nPOST {{path}}/plants HTTP/1.1\r\nHost: {{host}}\r\nContent-Length: 0\r\n\r\n"), fails(400, 401)),
	}
	for _, v := range []variant{
		{"negative", "-1"},
		{"signed", "+27"},
		{"hexadecimal", "0x1b"},
		{"a list", "27, 28"},
		{"a word", "many"},
		{"beyond 64 bits", "99999999999999999999"},
	} {
		cases = append(cases, one(rule, "Content-Length "+v.name, good().replace("Content-Length: "+v.text), fails(400)).closed().wire())
	}
	cases = append(cases, one(rule, "two different Content-Lengths", good().with("Content-Length: 5"), fails(400)).closed().wire())
	for _, v := range []variant{
		{"a size that is not a number", "zz\r\n{}\r\n0\r\n\r\n"},
		{"a negative size", "-2\r\n{}\r\n0\r\n\r\n"},
		{"a size beyond 64 bits", "fffffffffffffffff\r\n{}\r\n0\r\n\r\n"},
		{"a chunk longer than its size", "2\r\n{}{}\r\n0\r\n\r\n"},
	} {
		cases = append(cases, one(rule, "chunked, "+v.name, chunks(v.text), fails(400)).closed())
	}
	return cases
}

// chunks returns a create with this chunked body.
func chunks(text string) Request {
	return Request{Line: postLine, Header: standardHeader(), Body: text}.chunked(0)
}
