package models

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// newPlant returns the NewPlant that a valid body decodes to.
func newPlant(id int64, name string, tag *string) NewPlant {
	p := NewPlant{ID: Field[int64]{id, true}, Name: Field[string]{name, true}}
	if tag != nil {
		p.Tag = Field[string]{*tag, true}
	}
	return p
}

func TestDecodeAccepts(t *testing.T) {
	t.Parallel()
	cycad, empty := "cycad", ""
	tests := map[string]struct {
		body string
		want NewPlant
	}{
		"all fields":             {`{"id":1,"name":"fern","tag":"cycad"}`, newPlant(1, "fern", &cycad)},
		"no tag":                 {`{"id":1,"name":"fern"}`, newPlant(1, "fern", nil)},
		"zero values":            {`{"id":0,"name":"","tag":""}`, newPlant(0, "", &empty)},
		"any order":              {`{"tag":"cycad","name":"fern","id":-1}`, newPlant(-1, "fern", &cycad)},
		"white space":            {" \t\r\n{ \"id\" : 1 ,\n\"name\":\"x\"\t} \r\n", newPlant(1, "x", nil)},
		"integer with fraction":  {`{"id":12.0,"name":"x"}`, newPlant(12, "x", nil)},
		"largest id":             {`{"id":9223372036854775807,"name":"x"}`, newPlant(9223372036854775807, "x", nil)},
		"beyond float64":         {`{"id":9007199254740993,"name":"x"}`, newPlant(9007199254740993, "x", nil)},
		"escapes":                {`{"id":1,"name":"\u0000\/\"\\\b\f\n\r\t\u00e9\ud83c\udf31"}`, newPlant(1, "\x00/\"\\\b\f\n\r\té🌱", nil)},
		"escaped field name":     {`{"\u0069d":1,"n\u0061me":"x"}`, newPlant(1, "x", nil)},
		"not normalised":         {`{"id":1,"name":" e\u0301\u2028 "}`, newPlant(1, " e\u0301\u2028 ", nil)},
		"noncharacter":           {"{\"id\":1,\"name\":\"\uffff\\uffff\"}", newPlant(1, "\uffff\uffff", nil)},
		"unknown fields":         {`{"id":1,"x":1e999,"name":"y","y":{"id":"a","z":[null,{}]},"":[]}`, newPlant(1, "y", nil)},
		"other case is unknown":  {`{"ID":"a","Id":2,"id":1,"name":"x","NAME":null,"Tag":7}`, newPlant(1, "x", nil)},
		"nested to the bound":    {`{"id":1,"name":"x","y":` + nested(maxDepth-1) + `}`, newPlant(1, "x", nil)},
		"replacement characters": {`{"id":1,"name":"\ufffd"}`, newPlant(1, "\ufffd", nil)},
	}
	decoder := NewDecoder(1 << 20)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got NewPlant
			if err := decoder.Decode([]byte(tt.body), &got); err != nil {
				t.Fatalf("Decode: %v", err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(NewPlant{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body string
		want *Error
	}{
		"nothing":          {``, NewError(400, "body: is empty; send a NewPlant as JSON")},
		"white space only": {" \n", NewError(400, "body: is empty; send a NewPlant as JSON")},
		"byte order mark":  {"\ufeff{}", NewError(400, "body: starts with a byte order mark; send UTF-8 without one")},
		"cut short":        {`{"id":1,"na`, NewError(400, "body: the JSON is cut short, it ends after 11 bytes")},
		"cut in a value":   {`{"id":1,"name":"x`, NewError(400, "name: the JSON is cut short, it ends after 17 bytes")},
		"two values":       {`{"id":1,"name":"x"}{}`, NewError(400, "body: continues after the end of its JSON at byte 19")},
		"trailing comma":   {`{"id":1,}`, NewError(400, "body: has a trailing comma at byte 7")},
		"in an array":      {"{\"id\":1,\"x\":[1, \n]}", NewError(400, "x: has a trailing comma at byte 14")},
		"two commas":       {`{"id":1,,}`, NewError(400, "body: has a trailing comma at byte 8")},
		"leading zero":     {`{"id":01}`, NewError(400, "body: is not valid JSON at byte 7")},
		"bytes later on":   {"{\"id\":x,\"name\":\"\xff\"}", NewError(400, "id: is not valid JSON at byte 6")},
		"NaN":              {`{"id":NaN}`, NewError(400, "id: is not valid JSON at byte 6")},
		"single quotes":    {`{'id':1}`, NewError(400, "body: is not valid JSON at byte 1")},
		"control in text":  {"{\"id\":1,\"name\":\"\x01\"}", NewError(400, "name: has a control character that is not escaped at byte 16")},
		"invalid UTF-8":    {"{\"id\":1,\"name\":\"\xff\"}", NewError(400, "name: is not UTF-8 at byte 16")},
		"lone surrogate":   {`{"id":1,"name":"\ud800"}`, NewError(400, "name: has an escape that is unknown, or stands for half a surrogate pair, at byte 16")},
		"unknown escape":   {`{"id":1,"name":"\x"}`, NewError(400, "name: has an escape that is unknown, or stands for half a surrogate pair, at byte 16")},
		"late garbage":     {"{\"id\":1,\"name\":\"x\"} \xff", NewError(400, "body: continues after the end of its JSON at byte 20")},
		"line end in text": {"{\"id\":1,\"name\":\"a\nb\"}", NewError(400, "name: has a control character that is not escaped at byte 17")},
		"duplicate":        {`{"id":1,"name":"x","id":1}`, NewError(400, "id: appears more than once in its object")},
		"hidden duplicate": {`{"id":1,"name":"x","\u0069d":1}`, NewError(400, "id: appears more than once in its object")},
		"nested duplicate": {`{"id":1,"name":"x","y":{"a":[{"b":1,"b":2}]}}`, NewError(400, "/y/a/0/b: appears more than once in its object")},
		"nameless twice":   {`{"":1,"":2}`, NewError(400, `"": appears more than once in its object`)},
		"too deep":         {`{"id":1,"name":"x","y":` + nested(maxDepth) + `}`, NewError(400, "body: is nested deeper than 10000 levels")},
		"long name": {
			`{"` + strings.Repeat("ä", 100) + `":1,"` + strings.Repeat("ä", 100) + `":2}`,
			NewError(400, strings.Repeat("ä", 64)+"…: appears more than once in its object"),
		},
		"array":      {`[{"id":1,"name":"x"}]`, NewError(422, "body: must be an object, not an array")},
		"null":       {`null`, NewError(422, "body: must be an object, not null")},
		"string":     {`"x"`, NewError(422, "body: must be an object, not a string")},
		"number":     {`1e999`, NewError(422, "body: must be an object, not a number")},
		"boolean":    {`false`, NewError(422, "body: must be an object, not a boolean")},
		"no fields":  {`{}`, NewError(422, "id: is required; name: is required")},
		"other case": {`{"ID":1,"NAME":"x"}`, NewError(422, "id: is required; name: is required")},
		"nulls": {
			`{"tag":null,"name":null,"id":null}`,
			NewError(422, "id: must be an integer, not null; name: must be a string, not null; tag: must be a string, not null"),
		},
		"as in the contract": {`{"name":null}`, NewError(422, "id: is required; name: must be a string, not null")},
		"wrong types": {
			`{"id":"1","name":{},"tag":[]}`,
			NewError(422, "id: must be an integer, not a string; name: must be a string, not an object; tag: must be a string, not an array"),
		},
		"booleans": {
			`{"id":true,"name":false,"tag":1}`,
			NewError(422, "id: must be an integer, not a boolean; name: must be a string, not a boolean; tag: must be a string, not a number"),
		},
		"fraction": {`{"id":1.5,"name":"x"}`, NewError(422, "id: must be an integer, not a number with a fraction")},
		"too large": {
			`{"id":9223372036854775808,"name":"x"}`,
			NewError(422, "id: must be from -9223372036854775808 to 9223372036854775807"),
		},
		"syntax comes first": {`{"id":"1","name":null,}`, NewError(400, "body: has a trailing comma at byte 21")},
	}
	decoder := NewDecoder(1 << 20)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var failure *Error
			if err := decoder.Decode([]byte(tt.body), new(NewPlant)); !errors.As(err, &failure) {
				t.Fatalf("Decode: %v, want an *Error", err)
			}
			if failure.Code != tt.want.Code || failure.Message != tt.want.Message {
				t.Errorf("got  %d %q\nwant %d %q", failure.Code, failure.Message, tt.want.Code, tt.want.Message)
			}
		})
	}
}

// TestDecodeLimit checks that a body may have as many bytes as the limit and not one more, whatever
// they are (C2.8).
func TestDecodeLimit(t *testing.T) {
	t.Parallel()
	const body = `{"id":1,"name":"fern"}`
	decoder := NewDecoder(int64(len(body)))
	if err := decoder.Decode([]byte(body), new(NewPlant)); err != nil {
		t.Errorf("a body of the limit: %v", err)
	}
	var failure *Error
	err := decoder.Decode([]byte(body+"x"), new(NewPlant))
	if !errors.As(err, &failure) || *failure != *TooLarge(int64(len(body))) {
		t.Errorf("a body beyond the limit: %v, want %v", err, TooLarge(int64(len(body))))
	}
}

// nested returns arrays nested depth deep.
func nested(depth int) string {
	return strings.Repeat("[", depth) + strings.Repeat("]", depth)
}

// FuzzDecode compares the decoder with encoding/json, which accepts more. Both must
// decode an accepted body to the same values, and the error of a rejected one must
// be presentable to a client.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"id":1,"name":"fern","tag":"cycad"}`, `{"id":1e2,"name":""}`, `{"id":"1","name":null}`,
		`{"id":1,"name":"x","id":2}`, `{"id":1,"name":"\ud800"}`, `[]`, ``, `{"id":9223372036854775808,"name":"x"}`,
		`{"\u0069d":-0,"name":"\u0000","x":[{}]}`, "{\"id\":1,\"name\":\"\xff\"}", `nul`, `{"id":1,"name":"x"} x`,
	} {
		f.Add([]byte(seed))
	}
	decoder := NewDecoder(64 << 20)
	f.Fuzz(func(t *testing.T, body []byte) {
		var got NewPlant
		err := decoder.Decode(body, &got)
		if err != nil {
			checkPresentable(t, err)
			return
		}
		var fields map[string]any
		if err := json.Unmarshal(body, &fields); err != nil {
			t.Fatalf("accepted, but encoding/json fails: %v", err)
		}
		if !got.Name.Present || fields["name"] != got.Name.Value {
			t.Errorf("name is %q, encoding/json has %q", got.Name.Value, fields["name"])
		}
		if tag, present := fields["tag"]; present != got.Tag.Present || present && tag != got.Tag.Value {
			t.Errorf("tag is %v, encoding/json has %v", got.Tag, tag)
		}
		if id, isNumber := fields["id"].(float64); !isNumber || !got.ID.Present || id != float64(got.ID.Value) {
			t.Errorf("id is %v, encoding/json has %v", got.ID, fields["id"])
		}
	})
}

// checkPresentable checks that an error of Decode may be sent to a client.
func checkPresentable(t *testing.T, err error) {
	t.Helper()
	var failure *Error
	if !errors.As(err, &failure) {
		t.Fatalf("%v is not an *Error", err)
	}
	if failure.Code != CodeBadRequest && failure.Code != CodeUnprocessable {
		t.Errorf("code %d", failure.Code)
	}
	if failure.Message == "" || !utf8.ValidString(failure.Message) || len(failure.Message) > 1000 {
		t.Errorf("message %q", failure.Message)
	}
	for _, word := range []string{"jsontext", "json:", "Go ", "models.", "NewPlant."} {
		if strings.Contains(failure.Message, word) {
			t.Errorf("message %q contains %q", failure.Message, word)
		}
	}
}
