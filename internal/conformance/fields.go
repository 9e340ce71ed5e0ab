package conformance

import "strings"

// fieldCases are about field names (C2.11).
func fieldCases() []Case {
	const rule = "C2.11"
	cases := []Case{
		body(rule, "all in capitals", `{"ID":1,"NAME":"x"}`, invalid("id", "name")),
		body(rule, "with a capital", `{"Id":1,"Name":"x"}`, invalid("id", "name")),
		body(rule, "only id in capitals", `{"ID":1,"name":"x"}`, invalid("id")),
		body(rule, "only name with a capital", `{"id":{{id}},"Name":"x"}`, invalid("name")),
		body(rule, "tag in capitals is unknown", `{"id":{{id}},"name":"fern","TAG":"green"}`, fern()),
		body(rule, "the exact name wins, whatever comes after it", `{"id":{{id}},"name":"fern","Name":"x","NAME":1,"ID":"x"}`, fern()),
		body(rule, "the exact name wins, whatever comes before it", `{"Id":null,"NAME":1,"id":{{id}},"name":"fern"}`, fern()),
		body(rule, "an escaped name is the name", `{"\u0069d":{{id}},"n\u0061me":"fern","ta\u0067":"green"}`, tagged("fern", "green")),
		body(rule, "a space in the name", `{" id":1,"name ":"x"}`, invalid("id", "name")),
		body(rule, "NUL in the name", `{"id\u0000":1,"name\u0000":"x"}`, invalid("id", "name")),
		body(rule, "full-width letters", `{"ｉｄ":1,"ｎａｍｅ":"x"}`, invalid("id", "name")),
		body(rule, "dotless i and Kelvin sign", "{\"\u0131d\":1,\"name\":\"x\",\"\u212a\":1}", invalid("id")),
		body(rule, "the Plant one level down", `{"plant":{"id":1,"name":"x"}}`, invalid("id", "name")),
		body(rule, "a dotted path", `{"plant.id":1,"plant.name":"x"}`, invalid("id", "name")),
		body(rule, "names of columns and fields", `{"Id":1,"plant_id":1,"_id":1,"plantName":"x"}`, invalid("id", "name")),
	}
	for _, v := range []variant{
		{"null", `null`},
		{"true", `true`},
		{"a number", `-1.5e-3`},
		{"a string", `"x"`},
		{"an array", `[1,"a",null,[],{}]`},
		{"an object", `{"id":"x","name":null,"tag":1}`},
		{"a long string", `"` + strings.Repeat("x", 100_000) + `"`},
	} {
		cases = append(cases, body(rule, "unknown: "+v.name, `{"u":`+v.text+`,"id":{{id}},"name":"fern"}`, fern()))
	}
	for _, v := range []variant{
		{"the empty name", ``},
		{"__proto__", `__proto__`},
		{"constructor", `constructor`},
		{"$ref", `$ref`},
		{"a long name", strings.Repeat("n", 10_000)},
		{"a name with a line feed", `a\nb`},
		{"a name beyond ASCII", `🌿`},
		{"error", `error`},
	} {
		cases = append(cases, body(rule, "unknown, called "+v.name, `{"id":{{id}},"name":"fern","`+v.text+`":{"id":1}}`, fern()))
	}
	return cases
}

// spoken returns the text of an id for the name of a case.
func spoken(text string) string { return strings.ReplaceAll(text, "{{id}}", "ID") }

// requiredCases are about presence and types (C2.12).
func requiredCases() []Case {
	const rule = "C2.12"
	cases := []Case{
		body(rule, "an empty name", `{"id":{{id}},"name":""}`, plant("")),
		body(rule, "an empty name and an empty tag", `{"id":{{id}},"name":"","tag":""}`, tagged("", "")),
		body(rule, "an empty object", `{}`, invalid("id", "name")),
		body(rule, "only tag", `{"tag":"green"}`, invalid("id", "name")),
		body(rule, "no id", `{"name":"fern"}`, invalid("id")),
		body(rule, "no name", `{"id":{{id}}}`, invalid("name")),
		body(rule, "no tag", `{"id":{{id}},"name":"fern"}`, fern()),
		body(rule, "id 0 is present", `{"id":0}`, invalid("name")),
		body(rule, "an empty name is present", `{"name":""}`, invalid("id")),
		body(rule, "a violation of one field does not hide that the other is missing", `{"name":null}`, invalid("id", "name")),
	}
	values := []variant{{"null", `null`}, {"true", `true`}, {"false", `false`}, {"an array", `[]`}, {"an array of one", `["1"]`}, {"an object", `{}`}}
	for _, v := range values {
		cases = append(cases,
			body(rule, "id is "+v.name, `{"id":`+v.text+`,"name":"fern"}`, invalid("id")),
			body(rule, "name is "+v.name, `{"id":{{id}},"name":`+v.text+`}`, invalid("name")),
			body(rule, "tag is "+v.name, `{"id":{{id}},"name":"fern","tag":`+v.text+`}`, invalid("tag")))
	}
	for _, v := range []variant{{"a number", `1`}, {"zero", `0`}, {"a huge number", `1e400`}} {
		cases = append(cases,
			body(rule, "name is "+v.name, `{"id":{{id}},"name":`+v.text+`}`, invalid("name")),
			body(rule, "tag is "+v.name, `{"id":{{id}},"name":"fern","tag":`+v.text+`}`, invalid("tag")))
	}
	return append(cases,
		body(rule, "a refused NewPlant stores nothing", `{"id":{{id}},"name":"fern","tag":null}`, invalid("tag")).then(good(), fern()))
}

// idCases are about numbers as ids (C2.13).
func idCases() []Case {
	const rule = "C2.13"
	named := func(id string) string { return `{"id":` + id + `,"name":"fern"}` }
	var cases []Case
	for _, v := range []string{
		"{{id}}", "{{id}}.0", "{{id}}.000000000000000000000", "{{id}}e0", "{{id}}e2", "{{id}}E2", "{{id}}e+2", "{{id}}e02", "{{id}}.0e1",
		"{{id}}00e-2", "{{id}}00.00E-2", "{{id}}e-0", "{{id}}0000000000e-10", "0.{{id}}e16", "0.00{{id}}e18", "-{{id}}", "-{{id}}.0", "-{{id}}e1",
	} {
		cases = append(cases, body(rule, "an integer: "+spoken(v), named(v), fern()))
	}
	zeros := strings.Repeat("0", 10_000)
	cases = append(cases,
		body(rule, "an integer with ten thousand decimals, all zero", named("{{id}}."+zeros), fern()),
		body(rule, "an integer of ten thousand digits and an exponent", named("{{id}}"+zeros+"e-10000"), fern()))
	for _, v := range []string{"{{id}}.0", "{{id}}e0", "{{id}}00e-2", "{{id}}000.0e-3", "0.{{id}}e16"} {
		cases = append(cases, body(rule, "the same id: "+spoken(v), named("{{id}}"), fern()).then(post(named(v)), fails(409)))
	}
	for _, v := range []string{
		"1.5", "-1.5", "0.1", "1e-1", "15e-1", "100e-3", "{{id}}.5", "{{id}}.00000000000000000001", "9223372036854775807.5", "9223372036854775806.9999999999",
		`"1"`, `"{{id}}"`, `""`, `"1.0"`, "true", "false", "null", "[]", "[1]", "{}", `{"id":1}`,
		"9223372036854775808", "-9223372036854775809", "9223372036854775808.0", "9223372036854775808e0", "92233720368547758080e-1", "922337203685477580.8e1", "9.3e18", "1e19", "-1e19",
		"18446744073709551615", "18446744073709551616", "18446744073709551617", "36893488147419103233", "340282366920938463463374607431768211457",
		"1e400", "-1e400", "1e1000000000", "-1e1000000000", "1e-1000000000", "1e99999999999999999999", "1e-99999999999999999999", "1e+18446744073709551616", "1.1e-400",
	} {
		cases = append(cases, body(rule, "not an id: "+spoken(v), named(v), invalid("id")))
	}
	for _, v := range []variant{
		{"ten thousand digits", strings.Repeat("9", 10_000)},
		{"a million digits", strings.Repeat("9", 1_000_000)},
		{"ten thousand digits and a fraction", strings.Repeat("9", 10_000) + ".5"},
		{"ten thousand decimals", "1." + strings.Repeat("3", 10_000)},
		{"an exponent of ten thousand digits", "1e" + strings.Repeat("9", 10_000)},
		{"a negative exponent of ten thousand digits", "1e-" + strings.Repeat("9", 10_000)},
	} {
		cases = append(cases, body(rule, "not an id: "+v.name, named(v.text), invalid("id")))
	}
	odd := func(name string) Request { return post(`{"id":{{id}}01,"name":"` + name + `"}`) }
	cases = append(cases, one(rule, "neighbours that a double-precision number cannot hold are two ids", post(`{"id":{{id}}00,"name":"even"}`), plant("even")).
		then(odd("odd"), plant("odd")).
		then(odd("odd"), fails(409).labelled("identical")).
		then(odd("even"), fails(409).labelled("different")))
	return append(cases, wellKnownIDs()...)
}

// wellKnownIDs returns cases with ids that are the same in every run, so they may be taken. No
// two cases share an id.
func wellKnownIDs() []Case {
	const rule = "C2.13"
	named := func(id, name string) Request { return post(`{"id":` + id + `,"name":"` + name + `"}`) }
	edge := func(name, id string, others ...string) Case {
		c := one(rule, name, named(id, "edge"), plant("edge").mayBeTaken())
		for _, other := range others {
			c = c.then(named(other, "edge"), fails(409))
		}
		return c
	}
	cases := []Case{
		edge("zero, in all its spellings", "0", "-0", "0.0", "-0.0", "0e5", "0e-5", "-0e+5", "0.000e2", "0e1000000000", "0e-1000000000", "0.0e99999999999999999999"),
		edge("one", "1", "1.0", "10e-1", "0.1e1"),
		edge("minus one", "-1", "-1.0", "-10e-1"),
		edge("1e2 is 100", "1e2", "100", "100.0", "1.00e+2", "10000e-2"),
		edge("the largest", "9223372036854775807", "9223372036854775807.0", "922337203685477580.7e1", "9.223372036854775807e18", "9223372036854775807000e-3"),
		edge("the smallest", "-9223372036854775808", "-9223372036854775808.0", "-9.223372036854775808E18"),
		edge("the largest but one", "9223372036854775806"),
		edge("the smallest but one", "-9223372036854775807"),
		edge("1e18", "1e18", "1000000000000000000", "0.1e19"),
		edge("2^31", "2147483648"), edge("-2^31 - 1", "-2147483649"), edge("2^32", "4294967296"),
	}
	return append(cases, one(rule, "2^53 and its neighbours are three ids", named("9007199254740992", "even"), plant("even").mayBeTaken()).
		then(named("9007199254740993", "odd"), plant("odd").mayBeTaken()).
		then(named("9007199254740994", "even"), plant("even").mayBeTaken()).
		then(named("9007199254740993", "odd"), fails(409)).
		then(named("-9007199254740993", "minus"), plant("minus").mayBeTaken()))
}
