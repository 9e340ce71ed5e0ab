package conformance

import (
	"strconv"
	"strings"
)

// jsonRule is the rule about JSON itself.
const jsonRule = "C2.10"

// grammarCases are about the structure of a JSON text (C2.10).
func grammarCases() []Case {
	cases := bodies(fern(),
		variant{"white space of every kind, everywhere", " \t\r\n{ \t\r\n\"id\" \t\r\n: \t\r\n{{id}} \t\r\n, \t\r\n\"name\" \t\r\n: \t\r\n\"fern\" \t\r\n} \t\r\n"},
		variant{"line feed behind the value", "{\"id\":{{id}},\"name\":\"fern\"}\n"},
		variant{"literals and empty containers in unknown fields", `{"id":{{id}},"name":"fern","a":true,"b":false,"c":null,"d":[],"e":{}}`},
	)
	cases = append(cases, bodies(fails(400),
		variant{"no body", ""},
		variant{"only white space", " \t\r\n"},
		variant{"cut after the brace", `{`},
		variant{"cut in a name", `{"id`},
		variant{"cut after a name", `{"id"`},
		variant{"cut after a colon", `{"id":`},
		variant{"cut after a number", `{"id":{{id}}`},
		variant{"cut after a comma", `{"id":{{id}},`},
		variant{"cut in a string", `{"id":{{id}},"name":"fern`},
		variant{"cut before the brace", `{"id":{{id}},"name":"fern"`},
		variant{"cut in a literal", `{"id":{{id}},"name":"fern","u":tru`},
		variant{"only a closing brace", `}`},
		variant{"a comma at the end", `{"id":{{id}},"name":"fern",}`},
		variant{"two commas", `{"id":{{id}},,"name":"fern"}`},
		variant{"a comma at the beginning", `{,"id":{{id}},"name":"fern"}`},
		variant{"only a comma", `{,}`},
		variant{"no comma", `{"id":{{id}} "name":"fern"}`},
		variant{"no colon", `{"id" {{id}},"name":"fern"}`},
		variant{"two colons", `{"id"::{{id}},"name":"fern"}`},
		variant{"a semicolon for a comma", `{"id":{{id}};"name":"fern"}`},
		variant{"an equals sign for a colon", `{"id"={{id}},"name":"fern"}`},
		variant{"a name without a value", `{"id":{{id}},"name":"fern","u"}`},
		variant{"a name that is a number", `{"id":{{id}},"name":"fern",1:1}`},
		variant{"a name that is a literal", `{"id":{{id}},"name":"fern",null:1}`},
		variant{"a name without quotes", `{id:{{id}},"name":"fern"}`},
		variant{"a string without quotes", `{"id":{{id}},"name":fern}`},
		variant{"single quotes", `{'id':{{id}},'name':'fern'}`},
		variant{"typographic quotes", `{“id”:{{id}},“name”:“fern”}`},
		variant{"a line comment", "{\"id\":{{id}},//c\n\"name\":\"fern\"}"},
		variant{"a block comment", `{"id":{{id}},/*c*/"name":"fern"}`},
		variant{"a comment behind the value", `{"id":{{id}},"name":"fern"}//c`},
		variant{"a hash comment", "#c\n{\"id\":{{id}},\"name\":\"fern\"}"},
		variant{"brackets that do not match", `{"id":{{id}},"name":"fern"]`},
		variant{"a brace too many", `{"id":{{id}},"name":"fern"}}`},
		variant{"two values", `{"id":{{id}},"name":"fern"}{"id":{{id2}},"name":"ivy"}`},
		variant{"two values on two lines", "{\"id\":{{id}},\"name\":\"fern\"}\n{\"id\":{{id2}},\"name\":\"ivy\"}"},
		variant{"a word behind the value", `{"id":{{id}},"name":"fern"} x`},
		variant{"a literal behind the value", `{"id":{{id}},"name":"fern"} null`},
		variant{"a comma behind the value", `{"id":{{id}},"name":"fern"},`},
		variant{"NUL behind the value", "{\"id\":{{id}},\"name\":\"fern\"}\x00"},
		variant{"fault at the end, far behind the value", `{"id":{{id}},"name":"fern"}` + strings.Repeat(" ", 10_000) + "x"},
		variant{"a vertical tab as white space", "{\"id\":{{id}},\v\"name\":\"fern\"}"},
		variant{"a form feed as white space", "{\"id\":{{id}},\f\"name\":\"fern\"}"},
		variant{"a no-break space as white space", "{\"id\":{{id}},\u00a0\"name\":\"fern\"}"},
		variant{"a line separator as white space", "{\"id\":{{id}},\u2028\"name\":\"fern\"}"},
		variant{"literal in another case", `{"id":{{id}},"name":"fern","u":True}`},
		variant{"an unknown literal", `{"id":{{id}},"name":"fern","u":undefined}`},
		variant{"an array with a comma at the end", `{"id":{{id}},"name":"fern","u":[1,]}`},
		variant{"an array with a colon", `{"id":{{id}},"name":"fern","u":["a":1]}`},
		variant{"a form", `id=1&name=fern`},
		variant{"XML", `<plant id="1">fern</plant>`},
	)...)
	return append(cases, bodies(fails(422),
		variant{"null", `null`}, variant{"true", `true`}, variant{"a number", `1`}, variant{"a string", `"fern"`},
		variant{"an array", `[]`}, variant{"an array with a NewPlant", `[{"id":{{id}},"name":"fern"}]`},
	)...)
}

// numberCases are about the grammar of numbers (C2.10); integers are C2.13.
func numberCases() []Case {
	var cases []Case
	for _, v := range []string{
		"01", "-01", "00", "+1", ".5", "-.5", "1.", "1.e1", "0x10", "1e", "1e+", "1E-", "--1", "-", "1_000", "1,000", "１", "1 2",
		"NaN", "-NaN", "Infinity", "-Infinity", "inf", "1e1.5", "1f", "1n", "0b1", "0o7", "- 1",
	} {
		cases = append(cases,
			body(jsonRule, "id "+v, `{"id":`+v+`,"name":"fern"}`, fails(400)),
			body(jsonRule, "unknown field "+v, `{"id":{{id}},"name":"fern","u":`+v+`}`, fails(400)))
	}
	for _, v := range []variant{
		{"1e400", "1e400"},
		{"-1e400", "-1e400"},
		{"1E+2", "1E+2"},
		{"1e-400", "1e-400"},
		{"-0", "-0"},
		{"-0.0e-0", "-0.0e-0"},
		{"1e1000000000", "1e1000000000"},
		{"of 10,000 digits", strings.Repeat("9", 10_000)},
		{"of 10,000 decimals", "0." + strings.Repeat("3", 10_000)},
		{"with an exponent of 1,000 digits", "1e" + strings.Repeat("9", 1000)},
		{"beyond 64 bits", "18446744073709551616"},
	} {
		cases = append(cases, body(jsonRule, "an unknown field may be a number "+v.name, `{"id":{{id}},"name":"fern","u":`+v.text+`}`, fern()))
	}
	return cases
}

// structureCases are about duplicates and depth (C2.10).
func structureCases() []Case {
	nested := func(n int) string {
		return `{"id":{{id}},"name":"fern","u":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`
	}
	cases := bodies(fails(400),
		variant{"id twice", `{"id":{{id}},"id":{{id2}},"name":"fern"}`},
		variant{"id twice, the same", `{"id":{{id}},"name":"fern","id":{{id}}}`},
		variant{"name twice", `{"id":{{id}},"name":"fern","name":"fern"}`},
		variant{"tag twice", `{"id":{{id}},"name":"fern","tag":"a","tag":"b"}`},
		variant{"name twice, once null", `{"id":{{id}},"name":null,"name":"fern"}`},
		variant{"an unknown field twice", `{"id":{{id}},"name":"fern","u":1,"u":1}`},
		variant{"name twice, once escaped", `{"id":{{id}},"name":"fern","\u006eame":"fern"}`},
		variant{"id twice, once escaped", `{"\u0069\u0064":{{id}},"name":"fern","id":{{id}}}`},
		variant{"an unknown field twice, once escaped", `{"id":{{id}},"name":"fern","/":1,"\/":1}`},
		variant{"twice within an unknown field", `{"id":{{id}},"name":"fern","u":{"a":1,"a":2}}`},
		variant{"twice deep within an unknown field", `{"id":{{id}},"name":"fern","u":[[{"v":{"a":1,"b":2,"a":3}}]]}`},
		variant{"the empty name twice", `{"id":{{id}},"name":"fern","":1,"":2}`},
		variant{"a thousand fields and one of them again", `{"id":{{id}},"name":"fern",` + manyFields(1000) + `,"m500":1}`},
	)
	cases = append(cases, bodies(fern(),
		variant{"the same name on different levels", `{"id":{{id}},"name":"fern","u":{"id":1,"name":"x","u":{"id":2}}}`},
		variant{"the same name in neighbours", `{"id":{{id}},"name":"fern","u":[{"a":1},{"a":1}]}`},
		variant{"names that differ in case", `{"id":{{id}},"name":"fern","Name":1,"NAME":2,"a":1,"A":2}`},
		variant{"names that differ in normalisation", "{\"id\":{{id}},\"name\":\"fern\",\"\u00e9\":1,\"e\u0301\":2}"},
		variant{"a thousand fields", `{"id":{{id}},"name":"fern",` + manyFields(1000) + `}`},
		variant{"arrays 100 deep", nested(100)},
		variant{"objects 100 deep", `{"id":{{id}},"name":"fern","u":` + strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 101)},
		variant{"exactly as deep as the bound", nested(9_999)},
	)...)
	return append(cases, bodies(fails(400),
		variant{"one level over the bound", nested(10_000)},
		variant{"arrays 100,000 deep", nested(100_000)},
		variant{"arrays 100,000 deep, not closed", strings.Repeat("[", 100_000)},
		variant{"objects 100,000 deep, not closed", strings.Repeat(`{"":`, 100_000)},
	)...)
}

// manyFields are fields m0, m1 and so on.
func manyFields(n int) string {
	fields := make([]string, n)
	for i := range fields {
		fields[i] = `"m` + strconv.Itoa(i) + `":` + strconv.Itoa(i)
	}
	return strings.Join(fields, ",")
}
