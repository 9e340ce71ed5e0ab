package conformance

import "strings"

// credentialCases are about the Authorization header (C4.20).
func credentialCases() []Case {
	const rule = "C4.20"
	auth := func(value string) Request { return good().replace("Authorization:" + value) }
	var cases []Case
	for _, v := range []variant{
		{"scheme in small letters", " bearer {{token}}"},
		{"scheme in capitals", " BEARER {{token}}"},
		{"scheme in mixed letters", " bEaReR {{token}}"},
		{"two spaces behind the scheme", " Bearer  {{token}}"},
		{"many spaces behind the scheme", " Bearer          {{token}}"},
		{"white space around the value", "  \t Bearer {{token}} \t "},
		{"no space behind the colon", "Bearer {{token}}"},
	} {
		cases = append(cases, one(rule, "accepted: "+v.name, auth(v.text), fern()))
	}
	cases = append(cases,
		one(rule, "accepted: header's name in small letters", good().without("Authorization").with("authorization: Bearer {{token}}"), fern()),
		one(rule, "no Authorization", good().without("Authorization"), noCredential()),
		one(rule, "token in the query only", target("{{path}}/plants?access_token={{token}}").without("Authorization"), noCredential()),
		one(rule, "token in the body only", post(`{"id":{{id}},"name":"fern","access_token":"{{token}}"}`).without("Authorization"), noCredential()),
		one(rule, "token in a cookie only", good().without("Authorization").with("Cookie: access_token={{token}}"), noCredential()),
		one(rule, "token in another header only", good().without("Authorization").with("X-Auth-Token: {{token}}", "Proxy-Authorization: Bearer {{token}}"), noCredential()),
		one(rule, "a refused create stores nothing", good().without("Authorization"), noCredential()).then(good(), fern()),
		one(rule, "the same field twice", good().with("Authorization: Bearer {{token}}"), challenged()),
		one(rule, "a good field and a bad one", good().with("Authorization: Bearer a.b.c"), challenged()),
		one(rule, "a bad field and a good one", auth(" Bearer a.b.c").with("Authorization: Bearer {{token}}"), challenged()),
		one(rule, "a good field and Basic", good().with("Authorization: Basic dTpw"), challenged()),
		one(rule, "a token of 100,000 characters", auth(" Bearer "+strings.Repeat("a", 100_000)), fails(401, 431)),
		one(rule, "a good field and an empty one", good().with("Authorization:"), challenged()),
	)
	for _, v := range []variant{
		{"an empty value", ""},
		{"only the scheme", " Bearer"},
		{"the scheme and a space", " Bearer "},
		{"no scheme", " {{token}}"},
		{"Basic", " Basic dXNlcjpwYXNz"},
		{"Basic with the token", " Basic {{token}}"},
		{"scheme Token", " Token {{token}}"},
		{"scheme JWT", " JWT {{token}}"},
		{"scheme DPoP", " DPoP {{token}}"},
		{"scheme glued to the token", " Bearer{{token}}"},
		{"a colon behind the scheme", " Bearer: {{token}}"},
		{"an equals sign behind the scheme", " Bearer={{token}}"},
		{"a tab behind the scheme", " Bearer\t{{token}}"},
		{"the scheme twice", " Bearer Bearer {{token}}"},
		{"in quotes", ` Bearer "{{token}}"`},
		{"as a parameter", ` Bearer token="{{token}}"`},
		{"a second token", " Bearer {{token}} {{token}}"},
		{"a list", " Bearer {{token}}, Bearer {{token}}"},
		{"a comma at the end", " Bearer {{token}},"},
		{"a word", " Bearer nonsense"},
		{"null", " Bearer null"},
		{"three words", " Bearer a.b.c"},
		{"only dots", " Bearer .."},
		{"Cyrillic letters in the scheme that look like Latin ones", " Веarer {{token}}"},
	} {
		cases = append(cases, one(rule, "refused: "+v.name, auth(v.text), challenged()))
	}
	return cases
}

// challenged is the response to a credential that a server may treat as invalid or as missing.
func challenged() Response { return fails(401) }

// tokenCases change the token of the run, so that they need no secret (C4.21).
func tokenCases() []Case {
	const rule = "C4.21"
	var cases []Case
	for _, v := range []struct {
		name string
		bend func(string) (string, error)
	}{
		{"a bit of the signature flipped", flipBit},
		{"the signature's spare bits set", spareBits},
		{"the signature missing", bend(func(h, c, _ string) string { return h + "." + c + "." })},
		{"the signature and its dot missing", bend(func(h, c, _ string) string { return h + "." + c })},
		{"the claims missing", bend(func(h, _, s string) string { return h + ".." + s })},
		{"the header missing", bend(func(_, c, s string) string { return "." + c + "." + s })},
		{"one segment", bend(func(_, _, s string) string { return s })},
		{"a fourth segment, empty", bend(func(h, c, s string) string { return h + "." + c + "." + s + "." })},
		{"a fourth segment", bend(func(h, c, s string) string { return h + "." + c + "." + s + "." + s })},
		{"five segments, as an encrypted token has", bend(func(h, c, s string) string { return h + ".." + c + "." + s + "." + s })},
		{"a dot before", bend(func(h, c, s string) string { return "." + h + "." + c + "." + s })},
		{"segments in another order", bend(func(h, c, s string) string { return c + "." + h + "." + s })},
		{"the signature padded", bend(func(h, c, s string) string { return h + "." + c + "." + s + "=" })},
		{"the claims padded", bend(func(h, c, s string) string { return h + "." + c + "==." + s })},
		{"the header padded", bend(func(h, c, s string) string { return h + "=." + c + "." + s })},
		{"a percent-encoded padding", bend(func(h, c, s string) string { return h + "." + c + "." + s + "%3D" })},
		{"a space within the signature", bend(func(h, c, s string) string { return h + "." + c + "." + s[:2] + " " + s[2:] })},
		{"a tab within the signature", bend(func(h, c, s string) string { return h + "." + c + "." + s[:2] + "\t" + s[2:] })},
		{"the signature short of a character", bend(func(h, c, s string) string { return h + "." + c + "." + s[:len(s)-1] })},
		{"the signature cut to half", bend(func(h, c, s string) string { return h + "." + c + "." + s[:len(s)/8*4] })},
		{"the signature with a byte more", bend(func(h, c, s string) string { return h + "." + c + "." + s + "AA" })},
		{"the signature twice", bend(func(h, c, s string) string { return h + "." + c + "." + s + s })},
		{"a plus sign in the signature", bend(func(h, c, s string) string { return h + "." + c + ".+" + s[1:] })},
		{"a slash in the signature", bend(func(h, c, s string) string { return h + "." + c + "./" + s[1:] })},
		{"a character that is not base64", bend(func(h, c, s string) string { return h + "." + c + ".!" + s[1:] })},
		{"a signature of zeros", bend(func(h, c, s string) string { return h + "." + c + "." + strings.Repeat("A", len(s)) })},
		{"other claims under the signature", bend(func(h, _, s string) string { return h + "." + encode(`{"sub":"admin"}`) + "." + s })},
		{"another header over the signature", bend(func(_, c, s string) string { return encode(`{"typ":"JWT","alg":"HS256"} `) + "." + c + "." + s })},
	} {
		cases = append(cases, one(rule, v.name, good().bearing(Token{Given: true, Bend: v.bend}), badToken()))
	}
	for _, alg := range []string{"none", "None", "NONE", "nOnE", "", "null"} {
		header := `{"alg":"` + alg + `","typ":"JWT"}`
		cases = append(cases,
			one(rule, "algorithm \""+alg+"\", not signed", good().bearing(Token{Header: header, MAC: "none"}), badToken()),
			one(rule, "algorithm \""+alg+"\", with the token's own signature", good().bearing(Token{Given: true, Bend: bend(func(_, c, s string) string {
				return encode(header) + "." + c + "." + s
			})}), badToken()))
	}
	return cases
}

// josePartCases sign tokens with the secret. Their headers contain values that a strict server
// must refuse, or ignore (C4.21, C4.23).
func josePartCases() []Case {
	const rule = "C4.21"
	signed := func(header, mac string) Request { return good().bearing(Token{Header: header, MAC: mac}) }
	cases := []Case{
		one(rule, "signed as it should be", good().bearing(Token{}), fern()),
		one(rule, "signed with another secret", good().bearing(Token{Key: strings.Repeat("k", 32)}), badToken()),
		one(rule, "HS384 with the right secret", signed(`{"alg":"HS384"}`, "HS384"), badToken()),
		one(rule, "HS512 with the right secret", signed(`{"alg":"HS512"}`, "HS512"), badToken()),
		one(rule, "alg HS512, signed with HS256", signed(`{"alg":"HS512"}`, ""), badToken()),
		one(rule, "alg HS256, signed with HS512", signed(`{"alg":"HS256"}`, "HS512"), badToken()),
		one(rule, "header and claims padded, and signed so", good().bearing(Token{Padded: true}), badToken()),
		one(rule, "white space in the header's JSON", signed(" {\n \"alg\" : \"HS256\" } ", ""), fern()),
		one(rule, "no typ", signed(`{"alg":"HS256"}`, ""), fern()),
		one(rule, "an unknown header field", signed(`{"alg":"HS256","x-plant":{"a":[1]}}`, ""), fern()),
		one(rule, "very long claims, rightly signed", good().bearing(Token{Claims: `{{{live}},"u":"` + strings.Repeat("x", 8000) + `"}`}), fern()),
	}
	for _, alg := range []string{"RS256", "PS256", "ES256", "EdDSA", "hs256", "Hs256", "HS256 ", "HS1", "dir", "none"} {
		cases = append(cases, one(rule, "HMAC by the secret, with the alg \""+alg+"\"", signed(`{"alg":"`+alg+`"}`, ""), badToken()))
	}
	for _, alg := range []string{"HS256", "HS384", "HS512"} {
		forged := Token{Header: `{"alg":"` + alg + `"}`, MAC: alg, Key: "{{public key}}"}
		cases = append(cases, one(rule, alg+" with the public key as the secret", good().bearing(forged), badToken()).needs(NeedKey))
	}
	for _, v := range []variant{
		{"jku", `"jku":"https://keys.invalid/jwks.json"`},
		{"jwk", `"jwk":{"kty":"oct","k":"AAAA"}`},
		{"x5u", `"x5u":"https://keys.invalid/cert.pem"`},
		{"x5c", `"x5c":["AAAA"]`},
		{"kid", `"kid":"../../dev/null"`},
		{"kid with SQL", `"kid":"x' UNION SELECT 'k"`},
	} {
		header := `{"alg":"HS256",` + v.text + `}`
		cases = append(cases,
			one(rule, v.name+" is ignored", signed(header, ""), fern()),
			one(rule, v.name+" is not a source of keys", good().bearing(Token{Header: header, Key: "\x00\x00\x00"}), badToken()))
	}
	for _, v := range []variant{
		{"crit, unknown", `{"alg":"HS256","crit":["x"],"x":1}`},
		{"crit, with exp", `{"alg":"HS256","crit":["exp"],"exp":1}`},
		{"crit, with b64", `{"alg":"HS256","crit":["b64"],"b64":false}`},
		{"crit, with b64 true", `{"alg":"HS256","crit":["b64"],"b64":true}`},
		{"crit, empty", `{"alg":"HS256","crit":[]}`},
		{"crit, null", `{"alg":"HS256","crit":null}`},
		{"crit, no array", `{"alg":"HS256","crit":"x"}`},
		{"no alg", `{"typ":"JWT"}`},
		{"alg null", `{"alg":null}`},
		{"alg a number", `{"alg":256}`},
		{"alg an array", `{"alg":["HS256"]}`},
		{"header an array", `["HS256"]`},
		{"header null", `null`},
		{"header a string", `"HS256"`},
		{"header no JSON", `{"alg":"HS256"`},
		{"header followed by text", `{"alg":"HS256"}x`},
		{"header with a byte order mark", "\ufeff" + `{"alg":"HS256"}`},
		{"header with a comma at the end", `{"alg":"HS256",}`},
		{"header with bad UTF-8", "{\"alg\":\"HS256\",\"u\":\"\xff\"}"},
	} {
		cases = append(cases, one(rule, v.name, signed(v.text, ""), badToken()))
	}
	return cases
}

// tokenLimitCases are about what is refused before it is parsed (C4.25a), and about unknown keys (C4.25b).
func tokenLimitCases() []Case {
	const rule = "C4.25a"
	nested := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	headed := func(fields string) Request { return good().bearing(Token{Header: `{"alg":"HS256",` + fields + `}`}) }
	claiming := func(text string) Request { return good().bearing(Token{Claims: text}) }
	return []Case{
		one(rule, "a header of 1,900 bytes", headed(`"x":"`+strings.Repeat("x", 1880)+`"`), fern()),
		one(rule, "a header of 2,100 bytes", headed(`"x":"`+strings.Repeat("x", 2080)+`"`), badToken()),
		one(rule, "a header of 16 levels", headed(`"x":`+nested(15)), fern()),
		one(rule, "a header of 17 levels", headed(`"x":`+nested(16)), badToken()),
		one(rule, "brackets in a string of the header", headed(`"x":"\"`+strings.Repeat("[", 100)+`"`), fern()),
		one(rule, "a header of 10,000 brackets", good().bearing(Token{Header: strings.Repeat("[", 10_000), MAC: "none"}), badToken()),
		one(rule, "claims of 16 levels", claiming(`{{{live}},"x":`+nested(15)+`}`), fern()),
		one(rule, "claims of 17 levels", claiming(`{{{live}},"x":`+nested(16)+`}`), badToken()),
		one(rule, "claims of 2,000 objects", claiming(strings.Repeat(`{"x":`, 2000)), badToken()),
		one("C4.25b", "a token of an unknown key", good().bearing(Token{Header: `{"alg":"HS256","kid":"unknown"}`, Key: strings.Repeat("k", 32)}), fails(401, 503)),
	}
}
