package conformance

import (
	"slices"
	"strings"
)

// interfaceCases show that there is only one operation (C1.1).
func interfaceCases() []Case {
	const rule = "C1.1"
	cases := []Case{
		one(rule, "create a plant", good(), fern()),
		one(rule, "the description as JSON, without a credential", bare("GET {{path}}/openapi.json"),
			document("application/json").raw(`"3.1.0"`, `"createPlant"`, `"OpenAPI Plant Store"`)),
		one(rule, "the description as YAML, without a credential", bare("GET {{path}}/openapi.yaml"),
			document("yaml").raw("openapi: ", "3.1.0", "createPlant")),
		one(rule, "the plants are not listed", bare("GET {{path}}/plants"), fails(405)),
	}
	for _, method := range []string{"GET", "PUT", "PATCH", "DELETE"} {
		read := bare(method + " {{path}}/plants/{{id}}").with("Authorization: Bearer {{token}}")
		cases = append(cases, one(rule, method+" of a stored plant", good(), fern()).then(read, fails(404)))
	}
	return cases
}

// document returns a response with the description in a media type.
func document(mediaType string) Response {
	return Response{Kind: KindDocument}.optional().header("Content-Type", "~"+mediaType)
}

// noCredential returns the response to a request without credential.
func noCredential() Response { return Response{Codes: []int{401}, NoChallenge: "error="} }

// badToken returns the response to an invalid bearer token.
func badToken() Response { return Response{Codes: []int{401}, Challenge: `error="invalid_token"`} }

// responseCases are about the form of responses (C1.2 to C1.5, C1.7).
func responseCases() []Case {
	cases := []Case{
		body("C1.2", "name only", `{"id":{{id}},"name":"fern"}`, fern()),
		body("C1.2", "name and tag", `{"id":{{id}},"name":"fern","tag":"green"}`, tagged("fern", "green")),
		body("C1.2", "an empty tag is a tag", `{"id":{{id}},"name":"fern","tag":""}`, tagged("fern", "")),
		body("C1.2", "fields in another order", `{"tag":"green","name":"fern","id":{{id}}}`, tagged("fern", "green")),
		body("C1.2", "unknown fields are not echoed", `{"id":{{id}},"name":"fern","unknown":"red","error":1,"message":"m"}`, fern()),

		body("C1.5", "both required fields missing", `{}`, invalid("id", "name")),
		body("C1.5", "only id missing", `{"name":"fern"}`, invalid("id")),
		body("C1.5", "only name missing", `{"id":{{id}}}`, invalid("name")),
		body("C1.5", "every field of a wrong type", `{"id":"1","name":2,"tag":3}`, invalid("id", "name", "tag")),
		body("C1.5", "every field null", `{"id":null,"name":null,"tag":null}`, invalid("id", "name", "tag")),
		body("C1.5", "one missing, one of a wrong type", `{"tag":[],"id":{{id}}}`, invalid("name", "tag")),
		body("C1.5", "out of range, and a wrong type", `{"id":9223372036854775808,"name":false}`, invalid("id", "name")),
		body("C1.5", "a fraction, and a missing name", `{"id":1.5}`, invalid("id", "name")),
		body("C1.5", "huge wrong values are not repeated at length", `{"id":`+strings.Repeat("9", 2000)+`,"name":[`+strings.Repeat("1,", 2000)+`1]}`,
			invalid("id", "name")),
	}
	for _, v := range []variant{
		{"less-than, greater-than, ampersand", `<a href="x">&amp;</a>`},
		{"comparison", `1 < 2 && 3 > 2`},
	} {
		text := strings.ReplaceAll(v.text, `"`, `\"`)
		cases = append(cases,
			body("C1.7", v.name+" in name", `{"id":{{id}},"name":"`+text+`"}`, plant(v.text).raw(text)),
			body("C1.7", v.name+" in tag", `{"id":{{id}},"name":"fern","tag":"`+text+`"}`, tagged("fern", v.text).raw(text)))
	}
	cases = append(cases, body("C1.7", "sent escaped, returned unescaped", `{"id":{{id}},"name":"\u003c\u003e\u0026"}`, plant("<>&").raw("<>&")))
	return slices.Concat(cases, codeCases())
}

// codeCases have one case for each code that can be provoked (C1.4).
func codeCases() []Case {
	const rule = "C1.4"
	return []Case{
		body(rule, "400 for malformed JSON", `{"id":`, fails(400)),
		one(rule, "400 for malformed HTTP", raw("POST\r\n\r\n"), fails(400)),
		one(rule, "401 for a missing credential", good().without("Authorization"), noCredential()),
		one(rule, "404 for an unknown path", target("{{path}}/trees"), fails(404)),
		one(rule, "405 for a wrong method", bare("DELETE {{path}}/plants"), fails(405)),
		one(rule, "409 for an id taken", good(), fern()).then(good(), fails(409)),
		one(rule, "413 for too large a body", post(`{"id":{{id}},"name":"{{fill}}"}`).sized(1), fails(413)),
		one(rule, "415 for a wrong media type", good().replace("Content-Type: text/plain"), fails(415)),
		one(rule, "415 for a content coding", good().with("Content-Encoding: gzip"), fails(415)),
		one(rule, "417 for an unknown expectation", good().with("Expect: the-best"), fails(417)),
		body(rule, "422 for JSON that is not a NewPlant", `{"id":{{id}}}`, fails(422)),
		one(rule, "431 for too large a header", good().with("X-Long: "+strings.Repeat("x", 2<<20)), fails(431)),
		one(rule, "501 for an unknown transfer coding", good().replace("Transfer-Encoding: gzip").without("Content-Length"), fails(501)),
		one(rule, "505 for an unknown HTTP version", good().line("POST {{path}}/plants HTTP/3.0"), fails(505)),
	}
}

// headerCases are about header fields of single responses (C1.6).
func headerCases() []Case {
	const rule = "C1.6"
	cases := []Case{
		one(rule, "no credential: a challenge without error", good().without("Authorization"), noCredential()),
		one(rule, "a bad credential: a challenge with error", good().replace("Authorization: Bearer nonsense"), badToken()),
		one(rule, "Allow with a wrong method", bare("PUT {{path}}/plants"), fails(405).header("Allow", "POST")),
		one(rule, "nothing for a 404", target("{{path}}/nowhere"), fails(404).header("Allow", "").header("WWW-Authenticate", "")),
		one(rule, "HEAD has the same fields", bare("HEAD {{path}}/plants"), Response{Kind: KindHead}.header("Allow", "~POST")),
		one(rule, "two X-Request-Id fields are not both echoed", good().with("X-Request-Id: a{{id}}", "X-Request-Id: b{{id}}"), fern()),
		one(rule, "malformed HTTP gets a request id", raw("nonsense\r\n\r\n"), fails(400)),
	}
	const id = "plants-{{id}}.7_A"
	for _, v := range []struct {
		name string
		r    Request
		a    Response
	}{
		{"a create", good(), fern()},
		{"malformed JSON", post(`{`), fails(400)},
		{"a missing field", post(`{}`), fails(422)},
		{"a missing credential", good().without("Authorization"), fails(401)},
		{"an unknown path", target("{{path}}/nowhere"), fails(404)},
		{"a wrong method", bare("GET {{path}}/plants"), fails(405)},
		{"a wrong media type", good().replace("Content-Type: text/xml"), fails(415)},
	} {
		cases = append(cases, one(rule, "a valid X-Request-Id is echoed: "+v.name, v.r.with("X-Request-Id: "+id), v.a.header("X-Request-Id", id)))
	}
	for _, v := range []variant{
		{"5,000 characters", strings.Repeat("a", 5000)},
		{"a space in it", "a b c"},
		{"a brace in it", "a{b"},
		{"not ASCII", "\xc3\xa9t\xc3\xa9"},
		{"a byte that is not UTF-8", "a\xffb"},
		{"empty", ""},
	} {
		cases = append(cases, one(rule, "an X-Request-Id is not echoed: "+v.name, good().with("X-Request-Id: "+v.text), fern()))
	}
	return cases
}
