package conformance

// pathCases are about the path (C3.17).
func pathCases() []Case {
	const rule = "C3.17"
	var cases []Case
	for _, v := range []variant{
		{"a letter percent-encoded", "{{path}}/%70lants"},
		{"a letter percent-encoded, hexadecimal in small letters", "{{path}}/p%6cants"},
		{"every letter percent-encoded", "{{path}}/%70%6C%61%6E%74%73"},
		{"a query", "{{path}}/plants?colour=red&id=1"},
		{"an empty query", "{{path}}/plants?"},
		{"a query with a malformed escape", "{{path}}/plants?%zz"},
		{"a query with semicolons and slashes", "{{path}}/plants?a;b/../c?d"},
		{"absolute form", "{{scheme}}://{{host}}{{path}}/plants"},
		{"absolute form with a query", "{{scheme}}://{{host}}{{path}}/plants?x=1"},
	} {
		cases = append(cases, one(rule, "the same: "+v.name, target(v.text), fern()))
	}
	for _, v := range []variant{
		{"the root", "{{path}}/"},
		{"a slash at the end", "{{path}}/plants/"},
		{"two slashes at the end", "{{path}}/plants//"},
		{"two slashes at the beginning", "{{path}}//plants"},
		{"three slashes at the beginning", "{{path}}///plants"},
		{"a capital", "{{path}}/Plants"},
		{"all capitals", "{{path}}/PLANTS"},
		{"a capital percent-encoded", "{{path}}/%50lants"},
		{"singular", "{{path}}/plant"},
		{"longer", "{{path}}/plantsx"},
		{"below", "{{path}}/plants/1"},
		{"below with a slash", "{{path}}/plants/1/"},
		{"a dot segment before", "{{path}}/./plants"},
		{"a dot segment behind", "{{path}}/plants/."},
		{"two dots behind", "{{path}}/plants/.."},
		{"up and down again", "{{path}}/x/../plants"},
		{"dots percent-encoded", "{{path}}/%2e%2e/plants"},
		{"a slash percent-encoded behind", "{{path}}/plants%2F"},
		{"a slash percent-encoded before", "{{path}}/%2Fplants"},
		{"a backslash percent-encoded", "{{path}}/%5Cplants"},
		{"a space percent-encoded behind", "{{path}}/plants%20"},
		{"NUL percent-encoded behind", "{{path}}/plants%00"},
		{"a question mark percent-encoded", "{{path}}/plants%3Fx=1"},
		{"a percent sign percent-encoded", "{{path}}/%2570lants"},
		{"a line feed percent-encoded", "{{path}}/plants%0A"},
		{"bytes that are not UTF-8, percent-encoded", "{{path}}/plants%FF"},
		{"a parameter of a segment", "{{path}}/plants;v=1"},
		{"an extension", "{{path}}/plants.json"},
		{"a version before", "{{path}}/v1/plants"},
		{"absolute form without a path", "{{scheme}}://{{host}}"},
		{"absolute form with a slash at the end", "{{scheme}}://{{host}}{{path}}/plants/"},
		{"health", "{{path}}/healthz"},
		{"metrics", "{{path}}/metrics"},
		{"the profiler", "{{path}}/debug/pprof/"},
		{"a favicon", "{{path}}/favicon.ico"},
	} {
		cases = append(cases, one(rule, "not found: "+v.name, target(v.text), fails(404).header("Location", "")))
	}
	return append(cases,
		one(rule, "a fragment is not part of a target", target("{{path}}/plants#x"), fails(400, 404)),
		one(rule, "a token in the query is ignored", target("{{path}}/plants?access_token=x"), fern()),
	)
}

// notAllowed returns the response to a wrong method on /plants.
func notAllowed() Response { return fails(405).header("Allow", "~POST") }

// methodCases are about methods (C3.18).
func methodCases() []Case {
	const rule = "C3.18"
	var cases []Case
	for _, method := range []string{
		"GET", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "post", "Post", "pOST", "POSTS", "POS",
		"PROPFIND", "MKCOL", "LINK", "PURGE", "QUERY", "X-UNKNOWN", "!#$%&'*+-.^_`|~",
	} {
		cases = append(cases, one(rule, method, bare(method+" {{path}}/plants").with("Authorization: Bearer {{token}}"), notAllowed()))
	}
	for _, method := range []string{"PUT", "PATCH", "DELETE"} {
		cases = append(cases, one(rule, method+" with a good body creates no plant", good().line(method+" {{path}}/plants HTTP/1.1"), notAllowed()).then(good(), fern()))
	}
	return append(cases,
		one(rule, "HEAD", bare("HEAD {{path}}/plants"), Response{Kind: KindHead}.header("Allow", "~POST")).kept(),
		one(rule, "CONNECT", bare("CONNECT {{path}}/plants"), notAllowed()),
		one(rule, "a method is not overridden by a header", good().with("X-HTTP-Method-Override: DELETE"), fern()),
		one(rule, "a method is not overridden by the query", target("{{path}}/plants?_method=DELETE"), fern()),
		one(rule, "an unknown method on an unknown path", bare("BREW {{path}}/pot"), fails(404)),
		one(rule, "POST to the description", bare("POST {{path}}/openapi.json").with("Content-Length: 0"), fails(405).header("Allow", "~GET").optional()),
	)
}
