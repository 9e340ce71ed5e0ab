package conformance

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

// stringCases are about escapes (C2.10).
func stringCases() []Case {
	var cases []Case
	for _, v := range []variant{
		{"one half of a pair, the high one", `\uD83D`},
		{"one half of a pair, the low one", `\uDE00`},
		{"a high half before a letter", `\uD83Dx`},
		{"a high half before another escape", `\uD83D\n`},
		{"a high half before another character's escape", `\uD83D\u0041`},
		{"the halves in the wrong order", `\uDE00\uD83D`},
		{"two high halves", `\uD83D\uD83D`},
		{"a pair and a half", `\uD83D\uDE00\uD83D`},
		{"a half in small letters", `\ud83d`},
		{"escape of a letter that has none", `\a`},
		{"escape \\v", `\v`},
		{"escape \\0", `\0`},
		{"escape \\'", `\'`},
		{"escape \\x", `\x41`},
		{"escape \\U", `\U00000041`},
		{"escape in braces", `\u{41}`},
		{"three digits", `\u041`},
		{"no digits", `\u`},
		{"digits that are not hexadecimal", `\u00G0`},
		{"a sign among digits", `\u+041`},
		{"a space escaped", `\ `},
		{"a raw line feed", "a\nb"},
		{"a raw carriage return", "a\rb"},
		{"a raw tab", "a\tb"},
		{"a raw NUL", "a\x00b"},
		{"a raw U+001F", "a\x1fb"},
		{"an escaped raw line feed", "a\\\nb"},
	} {
		cases = append(cases, inEveryString(v)...)
	}
	cases = append(cases, body(jsonRule, "a backslash escapes the closing quote", `{"id":{{id}},"name":"fern\"}`, fails(400)))
	for _, v := range []struct{ name, text, means string }{
		{"every short escape", `\"\\\/\b\f\n\r\t`, "\"\\/\b\f\n\r\t"},
		{"escapes of letters", `\u0066\u0065\u0072\u006e`, "fern"},
		{"a pair", `\uD83C\uDF3F`, "🌿"},
		{"a pair in small letters", `\ud83c\udf3f`, "🌿"},
		{"the last pair", `\uDBFF\uDFFD`, "\U0010fffd"},
		{"next to the surrogates", `\uD7FF\uE000`, "\ud7ff\ue000"},
		{"a double backslash is not an escape", `\\u0041\\n`, `\u0041\n`},
		{"delete, raw", "a\x7fb", "a\x7fb"},
	} {
		cases = append(cases, body(jsonRule, "accepted: "+v.name, `{"id":{{id}},"name":"`+v.text+`"}`, plant(v.means)))
	}
	return cases
}

// inEveryString inserts a malformed text at each position where a string may be.
func inEveryString(v variant) []Case {
	return bodies(fails(400),
		variant{v.name + ", in name", `{"id":{{id}},"name":"` + v.text + `"}`},
		variant{v.name + ", in tag", `{"id":{{id}},"name":"fern","tag":"` + v.text + `"}`},
		variant{v.name + ", in an unknown field", `{"id":{{id}},"name":"fern","u":["` + v.text + `"]}`},
		variant{v.name + ", in a field's name", `{"id":{{id}},"name":"fern","` + v.text + `":1}`},
	)
}

// encodingCases are about UTF-8 (C2.10).
func encodingCases() []Case {
	var cases []Case
	for _, v := range []variant{
		{"byte FF", "\xff"},
		{"byte FE", "\xfe"},
		{"a lone continuation byte", "\x80"},
		{"a cut sequence of two", "\xc3"},
		{"a cut sequence of three", "\xe2\x82"},
		{"a cut sequence of four", "\xf0\x9f\x8c"},
		{"a slash in two bytes", "\xc0\xaf"},
		{"NUL in two bytes", "\xc0\x80"},
		{"a slash in three bytes", "\xe0\x80\xaf"},
		{"an overlong sequence of four", "\xf0\x80\x80\xaf"},
		{"a surrogate in three bytes", "\xed\xa0\x80"},
		{"a pair of surrogates in six bytes", "\xed\xa0\xbd\xed\xb8\x80"},
		{"beyond U+10FFFF", "\xf4\x90\x80\x80"},
		{"a sequence of five", "\xf8\x88\x80\x80\x80"},
		{"Latin-1", "caf\xe9"},
	} {
		cases = append(cases, inEveryString(v)...)
	}
	const text = `{"id":1,"name":"fern"}`
	cases = append(cases, bodies(fails(400),
		variant{"byte order mark", "\ufeff" + `{"id":{{id}},"name":"fern"}`},
		variant{"only a byte order mark", "\ufeff"},
		variant{"byte order mark behind the value", `{"id":{{id}},"name":"fern"}` + "\ufeff"},
		variant{"UTF-16, little end first", utf16Text(text, binary.LittleEndian)},
		variant{"UTF-16, big end first", utf16Text(text, binary.BigEndian)},
		variant{"UTF-16 with a byte order mark", utf16Text("\ufeff"+text, binary.LittleEndian)},
		variant{"UTF-32", strings.Join(strings.Split(text, ""), "\x00\x00\x00") + "\x00\x00\x00"},
		variant{"a bad byte between fields", "{\"id\":{{id}},\xff\"name\":\"fern\"}"},
		variant{"NULs for a body", "\x00\x00\x00\x00"},
		variant{"a bad byte behind the value", "{\"id\":{{id}},\"name\":\"fern\"}\xff"},
	)...)
	for _, v := range []variant{
		{"two bytes", "é"},
		{"three bytes", "€"},
		{"four bytes", "🌱"},
		{"a byte order mark within", "a\ufeffb"},
		{"the replacement character itself", "\ufffd"},
	} {
		cases = append(cases, body(jsonRule, "UTF-8 accepted: "+v.name, `{"id":{{id}},"name":"`+v.text+`"}`, plant(v.text)))
	}
	return cases
}

// utf16Text encodes a text in UTF-16.
func utf16Text(s string, order binary.AppendByteOrder) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

// textCases are about the stored name and tag (C2.14).
func textCases() []Case {
	const rule = "C2.14"
	var cases []Case
	for _, v := range []struct{ name, text, means string }{
		{"spaces at both ends", "  fern  ", ""},
		{"only a space", " ", ""},
		{"only escaped white space", `\t\n\r`, "\t\n\r"},
		{"composed", "caf\u00e9", ""},
		{"decomposed", "cafe\u0301", ""},
		{"a ligature", "\ufb01cus", ""},
		{"full-width letters", "\uff26\uff25", ""},
		{"Turkish letters", "\u0130\u0131iI", ""},
		{"sharp s", "\u1e9e\u00df", ""},
		{"right to left, with an override", "\u05e9\u05e8\u05da\u202e\u202cfern", ""},
		{"zero width", "fe\u200brn\u200d\u2060", ""},
		{"a soft hyphen", "fe\u00adrn", ""},
		{"a family of characters", "👩\u200d🌾🏽", ""},
		{"variation selectors", "🌿\ufe0f", ""},
		{"private use", "\ue000\U000f0000", ""},
		{"combining marks in a heap", "f" + strings.Repeat("\u0300\u0316", 50), ""},
		{"line and paragraph separators", "a\u2028b\u2029c", ""},
		{"next line", "a\u0085b", ""},
		{"noncharacters", "\ufdd0\ufffe\uffff\U0001fffe\U0010ffff", ""},
		{"noncharacters, escaped", `\ufdd0\ufffe\uffff\ud83f\udffe\udbff\udfff`, "\ufdd0\ufffe\uffff\U0001fffe\U0010ffff"},
		{"NUL, escaped", `a\u0000b`, "a\x00b"},
		{"only NUL", `\u0000`, "\x00"},
		{"every control character, escaped", `\u0001\u0002\u0007\u000b\u001b\u001f`, "\x01\x02\a\v\x1b\x1f"},
		{"delete", "\x7f", ""},
		{"quotes and backslashes", `\"\\\\\"`, `"\\"`},
		{"a slash, escaped", `a\/b`, "a/b"},
		{"a script", `<script>alert(1)</script>`, ""},
		{"SQL", `'; DROP TABLE plants; --`, ""},
		{"a path", `../../etc/passwd`, ""},
		{"format verbs", `%s%n%d%!v(MISSING)`, ""},
		{"a template", `{{.}}${x}#{y}<%= z %>`, ""},
		{"the word null", `null`, ""},
		{"a number", `1e400`, ""},
		{"JSON", `{\"id\":1}`, `{"id":1}`},
		{"lines of a log", `x\r\nlevel=ERROR`, "x\r\nlevel=ERROR"},
		{"a thousand characters", strings.Repeat("🌵", 1000), ""},
	} {
		if v.means == "" {
			v.means = v.text
		}
		cases = append(cases,
			body(rule, v.name+", in name", `{"id":{{id}},"name":"`+v.text+`"}`, plant(v.means)),
			body(rule, v.name+", in tag", `{"id":{{id}},"name":"fern","tag":"`+v.text+`"}`, tagged("fern", v.means)))
	}
	composed, decomposed := `{"id":{{id}},"name":"`+"\u00e9"+`"}`, `{"id":{{id}},"name":"`+"e\u0301"+`"}`
	return append(cases,
		body(rule, "composed and decomposed are different plants", composed, plant("\u00e9")).
			then(post(composed), fails(409).labelled("identical")).then(post(decomposed), fails(409).labelled("different")),
		body(rule, "a space at the end makes a different plant", `{"id":{{id}},"name":"fern"}`, fern()).
			then(good(), fails(409).labelled("identical")).then(post(`{"id":{{id}},"name":"fern "}`), fails(409).labelled("different")),
		body(rule, "an escape and its character are the same", `{"id":{{id}},"name":"\u0066ern"}`, fern()).
			then(good(), fails(409).labelled("identical")).then(post(`{"id":{{id}},"name":"Fern"}`), fails(409).labelled("different")),
	)
}
