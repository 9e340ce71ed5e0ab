package conformance

// storeCases are about stored plants (C5.26 to C5.29).
func storeCases() []Case {
	other := func(text string) Request { return post(`{"id":{{id}},` + text + `}`) }
	taken := func(label string) Response { return fails(409).labelled(label) }
	const green = `"name":"fern","tag":"green"`
	cases := []Case{
		one("C5.26", "a plant that got 200 is stored", good(), fern()).then(good(), fails(409)),
		one("C5.26", "it is stored for the next request on the same connection", good(), fern()).again(good(), fails(409)),
		one("C5.26", "it is stored although the client has disconnected", good(), Response{}).cut(0, ThenDrop).
			then(post(`{"id":{{id2}},"name":"ivy"}`), plant("ivy")).then(good(), fern().or(409)).then(good(), fails(409)),

		one("C5.27", "the same plant again", good(), fern()).then(good(), taken("identical")).then(good(), taken("identical")),
		one("C5.27", "another name", good(), fern()).then(good(), taken("identical")).then(other(`"name":"moss"`), taken("different")),
		one("C5.27", "a tag where there was none", good(), fern()).then(good(), taken("identical")).then(other(green), taken("different")),
		one("C5.27", "an empty tag where there was none", good(), fern()).then(good(), taken("identical")).then(other(`"name":"fern","tag":""`), taken("different")),
		one("C5.27", "no tag where there was one", other(green), tagged("fern", "green")).then(other(green), taken("identical")).then(good(), taken("different")),
		one("C5.27", "another tag", other(green), tagged("fern", "green")).then(other(green), taken("identical")).then(other(`"name":"fern","tag":"Green"`), taken("different")),
		one("C5.27", "name and tag exchanged", other(`"name":"a","tag":"b"`), tagged("a", "b")).then(other(`"name":"a","tag":"b"`), taken("identical")).
			then(other(`"name":"b","tag":"a"`), taken("different")),
		one("C5.27", "unknown fields do not make a plant different", good(), fern()).then(good(), taken("identical")).then(other(`"name":"fern","u":1`), taken("identical")),
		one("C5.27", "a refused create leaves the stored plant as it was", good(), fern()).then(other(`"name":"moss"`), taken("different")).
			then(good(), taken("identical")).then(other(`"name":"moss"`), taken("different")),
		one("C5.27", "two ids may have the same plant", good(), fern()).then(post(`{"id":{{id2}},"name":"fern"}`), fern()),
		one("C5.27", "pipelined creates of one id", good(), fern()).again(good(), fails(409)).again(good(), fails(409)).pipelined(),
		racing("32 identical creates", 32, good(), fern()).then(good(), fails(409)),
		racing("32 different creates", 32, other(`"name":"racer {{racer}}"`), plant("racer {{racer}}")).then(good(), fails(409)),
		racing("16 creates with the id written with a fraction", 16, post(`{"id":{{id}}.0,"name":"fern"}`), fern()).then(good(), fails(409)),

		one("C5.29", "a negative id is another than the positive one", post(`{"id":-{{id}},"name":"minus"}`), plant("minus")).
			then(good(), fern()).then(post(`{"id":-{{id}},"name":"minus"}`), fails(409)),
		one("C5.29", "negative neighbours are two ids", post(`{"id":-{{id}},"name":"a"}`), plant("a")).then(post(`{"id":-{{id2}},"name":"b"}`), plant("b")),
	}
	for _, v := range []struct {
		name string
		r    Request
		code int
	}{
		{"malformed JSON", post(`{"id":{{id}},"name":"fern"`), 400},
		{"text behind the value", post(`{"id":{{id}},"name":"fern"} x`), 400},
		{"a duplicate", post(`{"id":{{id}},"name":"fern","name":"fern"}`), 400},
		{"a missing field", post(`{"id":{{id}}}`), 422},
		{"a wrong tag", post(`{"id":{{id}},"name":"fern","tag":1}`), 422},
		{"a wrong media type", good().replace("Content-Type: text/plain"), 415},
		{"a content coding", good().with("Content-Encoding: gzip"), 415},
		{"no credential", good().without("Authorization"), 401},
		{"a wrong path", target("{{path}}/plants/"), 404},
		{"an unknown expectation", good().with("Expect: x"), 417},
	} {
		cases = append(cases, one("C5.28", "after "+v.name+" the id is free", v.r, fails(v.code)).then(good(), fern()))
	}
	return append(cases, one("C5.28", "after 409 the id is not free", good(), fern()).then(good(), fails(409)).then(good(), fails(409)))
}

// racing sends a create n times at once: one succeeds, and all others get error 409.
func racing(name string, n int, r Request, winner Response) Case {
	c := one("C5.27", "racing: "+name, r, winner)
	c.Racing = n
	return c.last(func(t *Exchange) { t.Want = []Response{winner, fails(409)} })
}

// slowCases wait for the server's timeouts (C1.3, C1.4).
func slowCases() []Case {
	stalled := func(rule, name string, r Request, cut int) Case {
		return one(rule, name, r, fails(408)).cut(cut, ThenReceive).closed().needs(NeedSlow)
	}
	return []Case{
		stalled("C1.4", "408 for a body that stops", good(), 10),
		one("C1.3", "a header that stops", raw("POST {{path}}/plants HTTP/1.1\r\nHost: {{host}}\r\nAuthorization: "), fails(408)).closed().needs(NeedSlow),
		one("C1.3", "a request line that stops", raw("POST {{path}}/pl"), fails(408)).closed().needs(NeedSlow),
		stalled("C1.3", "a body that never begins", good(), 37),
		stalled("C1.3", "a chunked body that stops", good().chunked(64), 5),
		stalled("C1.3", "a chunked body that stops within a chunk", good().chunked(64), 20),
		stalled("C2.16", "a slow body stores nothing", good(), 1).then(good(), fern()),
		stalled("C2.16", "a slow body, complete except white space, stores nothing", post(`{"id":{{id}},"name":"fern"} `), 1).then(good(), fern()),
	}
}
