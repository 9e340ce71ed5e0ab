package conformance

// claiming is a create with a correctly signed token that has these claims.
func claiming(claims string) Request { return good().bearing(Token{Claims: claims}) }

// timeCases are about exp and nbf (C4.22).
func timeCases() []Case {
	const times = "C4.22"
	var cases []Case
	for _, v := range []variant{
		{"exp in an hour", `{{{base}},"exp":{{soon}}}`},
		{"exp with a fraction", `{{{base}},"exp":{{soon}}.75}`},
		{"exp with an exponent", `{{{base}},"exp":{{soon}}0e-1}`},
		{"exp past, within the leeway", `{{{base}},"exp":{{just now}}}`},
		{"exp in the year 10000", `{{{base}},"exp":253402300800}`},
		{"exp in 2^53", `{{{base}},"exp":9007199254740993}`},
		{"exp beyond 64 bits", `{{{base}},"exp":100000000000000000000}`},
		{"nbf past", `{{{live}},"nbf":{{long ago}}}`},
		{"nbf 0", `{{{live}},"nbf":0}`},
		{"nbf with a fraction", `{{{live}},"nbf":{{long ago}}.5}`},
		{"nbf to come, within the leeway", `{{{live}},"nbf":{{in a moment}}}`},
		{"unknown claims", `{{{live}},"u":[null,{"exp":0}],"roles":["write"]}`},
		{"white space", " {\n{{live}} } "},
	} {
		cases = append(cases, one(times, "accepted: "+v.name, claiming(v.text), fern()))
	}
	for _, v := range []variant{
		{"exp past", `{{{base}},"exp":{{long ago}}}`},
		{"exp 0", `{{{base}},"exp":0}`},
		{"exp -0", `{{{base}},"exp":-0}`},
		{"exp 1", `{{{base}},"exp":1}`},
		{"exp a fraction", `{{{base}},"exp":0.5}`},
		{"exp negative", `{{{base}},"exp":-1}`},
		{"exp very negative", `{{{base}},"exp":-100000000000000000000}`},
		{"exp past, with a fraction", `{{{base}},"exp":{{long ago}}.9}`},
		{"exp null", `{{{base}},"exp":null}`},
		{"exp a string", `{{{base}},"exp":"{{soon}}"}`},
		{"exp an empty string", `{{{base}},"exp":""}`},
		{"exp a date", `{{{base}},"exp":"2999-01-01T00:00:00Z"}`},
		{"exp true", `{{{base}},"exp":true}`},
		{"exp false", `{{{base}},"exp":false}`},
		{"exp an array", `{{{base}},"exp":[{{soon}}]}`},
		{"exp an object", `{{{base}},"exp":{"at":{{soon}}}}`},
		{"nbf to come", `{{{live}},"nbf":{{in an hour}}}`},
		{"nbf far to come", `{{{live}},"nbf":253402300800}`},
		{"nbf beyond 64 bits", `{{{live}},"nbf":100000000000000000000}`},
		{"nbf null", `{{{live}},"nbf":null}`},
		{"nbf a string", `{{{live}},"nbf":"0"}`},
		{"nbf true", `{{{live}},"nbf":true}`},
		{"nbf an array", `{{{live}},"nbf":[0]}`},
		{"nbf an object", `{{{live}},"nbf":{}}`},
		{"nbf to come and exp past", `{{{base}},"exp":1,"nbf":253402300800}`},
	} {
		cases = append(cases, one(times, "refused: "+v.name, claiming(v.text), badToken()))
	}
	return append(cases, one(times, "accepted: no exp", claiming(`{{{base}}}`), fern()).needs(NeedNoExp))
}

// claimCases are about the JSON of claims and header (C4.23).
func claimCases() []Case {
	const names = "C4.23"
	var cases []Case
	for _, v := range []variant{
		{"Exp is not exp", `{{{live}},"Exp":0}`},
		{"EXP is not exp", `{{{live}},"EXP":"x"}`},
		{"NBF is not nbf", `{{{live}},"NBF":253402300800}`},
		{"exp with a space", `{{{live}},"exp ":0}`},
	} {
		cases = append(cases, one(names, v.name, claiming(v.text), fern()))
	}
	for _, v := range []variant{
		{"exp twice, the last good", `{{{base}},"exp":0,"exp":{{soon}}}`},
		{"exp twice, the first good", `{{{base}},"exp":{{soon}},"exp":0}`},
		{"exp twice, the same", `{{{base}},"exp":{{soon}},"exp":{{soon}}}`},
		{"exp twice, once escaped", `{{{live}},"\u0065xp":0}`},
		{"sub twice", `{{{live}},"sub":"x"}`},
		{"an unknown claim twice", `{{{live}},"u":1,"u":1}`},
		{"twice within a claim", `{{{live}},"u":{"a":1,"a":1}}`},
		{"bad UTF-8 in a claim", "{{{live}},\"u\":\"\xff\"}"},
		{"bad UTF-8 in a claim's name", "{{{live}},\"\xc0\xaf\":1}"},
		{"half a surrogate pair", `{{{live}},"u":"\ud800"}`},
		{"a byte order mark", "\ufeff{{{live}}}"},
		{"text behind the claims", `{{{live}}}x`},
		{"two objects", `{{{live}}}{}`},
		{"a comma at the end", `{{{live}},}`},
		{"cut", `{{{live}}`},
		{"an array", `[{{{live}}}]`},
		{"null", `null`},
		{"a string", `"x"`},
		{"a number", `1`},
		{"only a space", ` `},
		{"encoded twice", `eyJzdWIiOiJ4In0`},
	} {
		cases = append(cases, one(names, "claims refused: "+v.name, claiming(v.text), badToken()))
	}
	for _, v := range []variant{
		{"alg twice", `{"alg":"HS256","alg":"HS256"}`},
		{"alg twice, first none", `{"alg":"none","alg":"HS256"}`},
		{"alg twice, last none", `{"alg":"HS256","alg":"none"}`},
		{"alg twice, once escaped", `{"alg":"HS256","\u0061lg":"HS256"}`},
		{"an unknown field twice", `{"alg":"HS256","x":1,"x":2}`},
		{"ALG is not alg", `{"ALG":"HS256","typ":"JWT"}`},
		{"Alg is not alg", `{"Alg":"HS256","typ":"JWT"}`},
	} {
		cases = append(cases, one(names, "header refused: "+v.name, good().bearing(Token{Header: v.text}), badToken()))
	}
	return append(cases,
		one(names, "ALG next to alg is ignored", good().bearing(Token{Header: `{"ALG":"none","alg":"HS256"}`}), fern()),
		one(names, "CRIT is not crit", good().bearing(Token{Header: `{"alg":"HS256","CRIT":["x"]}`}), fern()))
}

// secretCases are about secrets (C4.24, C4.25).
func secretCases() []Case {
	var cases []Case
	for _, v := range []variant{
		{"secret", "secret"},
		{"your-256-bit-secret", "your-256-bit-secret"},
		{"changeme", "changeme"},
		{"a NUL", "\x00"},
		{"32 NULs", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"},
		{"HS256", "HS256"},
	} {
		cases = append(cases, one("C4.24", "guessed secret: "+v.name, good().bearing(Token{Key: v.text}), badToken()))
	}
	cases = append(cases, one("C4.24", "the token itself as secret", good().bearing(Token{Key: "{{token}}"}), badToken()))
	const marker = "marker-of-secret"
	silent := func(a Response) Response { a.NotNaming = []string{marker, encode(marker)}; return a }
	return append(cases,
		one("C4.25", "a bad token is not repeated", good().replace("Authorization: Bearer "+marker), silent(badToken())),
		one("C4.25", "a bad scheme is not repeated", good().replace("Authorization: Basic "+marker), silent(challenged())),
		one("C4.25", "an unknown scheme is not repeated", good().replace("Authorization: "+marker+" x"), silent(challenged())),
		one("C4.25", "an algorithm is not repeated", good().bearing(Token{Header: `{"alg":"` + marker + `"}`, Key: "x"}), silent(badToken())),
		one("C4.25", "a good token is not repeated with a refused plant", post(`{"id":"{{token}}"}`), fails(422)),
	)
}
