package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestDecodeRefuses checks the messages. What a Decoder accepts is in the cases of the contract.
func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 100)
	decoder := NewDecoder(64 << 10)
	atLimit := `{"id":1,"name":"x"}` + strings.Repeat(" ", 64<<10-19)
	if err := decoder.Decode([]byte(atLimit), new(NewPlant)); err != nil {
		t.Errorf("a body of %d bytes, the limit: %v", len(atLimit), err)
	}
	for body, want := range map[string]string{
		"":                                      "400 body: is empty; send a NewPlant as JSON",
		" \n":                                   "400 body: is empty; send a NewPlant as JSON",
		"\ufeff{}":                              "400 body: starts with a byte order mark; send UTF-8 without one",
		`{"id":1,"na`:                           "400 body: the JSON is cut short, it ends after 11 bytes",
		`{"id":1,"name":"x`:                     "400 name: the JSON is cut short, it ends after 17 bytes",
		`{"id":1,"name":"x"}{}`:                 "400 body: continues after the end of its JSON at byte 19",
		"{\"id\":1,\"name\":\"x\"} \xff":        "400 body: continues after the end of its JSON at byte 20",
		`{"id":1,}`:                             "400 body: has a trailing comma at byte 7",
		`{"id":1,,}`:                            "400 body: has a trailing comma at byte 8",
		"{\"id\":1,\"x\":[1, \n]}":              "400 x: has a trailing comma at byte 14",
		`{"id":"1","name":null,}`:               "400 body: has a trailing comma at byte 21", // before all violations
		`{"id":01}`:                             "400 body: is not valid JSON at byte 7",
		`{'id':1}`:                              "400 body: is not valid JSON at byte 1",
		"{\"id\":x,\"name\":\"\xff\"}":          "400 id: is not valid JSON at byte 6", // before the later byte
		"{\"id\":1,\"name\":\"\x01\"}":          "400 name: has a control character that is not escaped at byte 16",
		"{\"id\":1,\"name\":\"a\nb\"}":          "400 name: has a control character that is not escaped at byte 17",
		"{\"id\":1,\"name\":\"\xff\"}":          "400 name: is not UTF-8 at byte 16",
		`{"id":1,"name":"\ud800"}`:              "400 name: has an escape that is unknown, or stands for half a surrogate pair, at byte 16",
		`{"id":1,"name":"\x"}`:                  "400 name: has an escape that is unknown, or stands for half a surrogate pair, at byte 16",
		`{"id":1,"\u0069d":1}`:                  "400 id: appears more than once in its object",
		`{"y":{"a":[{"b":1,"b":2}]}}`:           "400 /y/a/0/b: appears more than once in its object",
		`{"":1,"":2}`:                           `400 "": appears more than once in its object`,
		`{"` + long + `":1,"` + long + `":2}`:   "400 " + long[:128] + "…: appears more than once in its object",
		strings.Repeat("[", maxDepth+1):         "400 body: is nested deeper than 10000 levels",
		strings.Repeat(" ", 64<<10+1):           "413 " + TooLarge(64<<10).Message,
		`[{"id":1,"name":"x"}]`:                 "422 body: must be an object, not an array",
		`null`:                                  "422 body: must be an object, not null",
		`"x"`:                                   "422 body: must be an object, not a string",
		`1e999`:                                 "422 body: must be an object, not a number",
		`false`:                                 "422 body: must be an object, not a boolean",
		`{"ID":1,"NAME":"x"}`:                   "422 id: is required; name: is required",
		`{"name":null}`:                         "422 id: is required; name: must be a string, not null",
		`{"tag":null,"name":"","id":null}`:      "422 id: must be an integer, not null; tag: must be a string, not null",
		`{"id":[],"name":{}}`:                   "422 id: must be an integer, not an array; name: must be a string, not an object",
		`{"id":true,"name":1}`:                  "422 id: must be an integer, not a boolean; name: must be a string, not a number",
		`{"id":1.5,"name":"x"}`:                 "422 id: must be an integer, not a number with a fraction",
		`{"id":9223372036854775808,"name":"x"}`: "422 id: must be from -9223372036854775808 to 9223372036854775807",
	} {
		var failure *Error
		if err := decoder.Decode([]byte(body), new(NewPlant)); !errors.As(err, &failure) {
			t.Errorf("%.100q: %v, want an *Error", body, err)
		} else if got := fmt.Sprint(failure.Code, " ", failure.Message); got != want {
			t.Errorf("%.100q:\ngot  %s\nwant %s", body, got, want)
		}
	}
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

// TestParseAnyInteger compares parseInteger with math/big, for small exponents only, since that expands them.
func TestParseAnyInteger(t *testing.T) {
	t.Parallel()
	numbers := rapid.StringMatching(`-?(0|[1-9][0-9]{0,20}|922337203685477580[0-9])(\.[0-9]{1,20}|\.0+)?([eE][+-]?[0-9]{1,2})?`)
	rapid.Check(t, func(r *rapid.T) {
		number := numbers.Draw(r, "number")
		want, _ := new(big.Rat).SetString(number)
		wantErr := error(nil)
		switch {
		case !want.IsInt():
			wantErr = errNotInteger
		case !want.Num().IsInt64():
			wantErr = errNotInt64
		}
		if got, err := parseInteger([]byte(number)); !errors.Is(err, wantErr) || err == nil && got != want.Num().Int64() {
			r.Fatalf("%s: got %d, %v, want %v, %v", number, got, err, want, wantErr)
		}
	})
}

// TestParseInteger checks the limits, and numbers that math/big cannot expand.
func TestParseInteger(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("0", 10_000)
	for number, want := range map[string]struct {
		value int64
		err   error
	}{
		"9223372036854775807":      {math.MaxInt64, nil},
		"9223372036854775808":      {0, errNotInt64},
		"-9223372036854775808":     {math.MinInt64, nil},
		"9.223372036854775808e18":  {0, errNotInt64},
		"-92233720368547758080e-1": {math.MinInt64, nil},
		"18446744073709551617.0":   {0, errNotInt64},
		"9223372036854775807.5":    {0, errNotInteger},
		"0e999999999999999999999":  {0, nil},
		"0.000e-99999999999999999": {0, nil},
		"1." + zeros:               {1, nil},
		"0." + zeros + "1e10001":   {1, nil},
		"1" + zeros + "e-10000":    {1, nil},
		"-1e1000000000":            {0, errNotInt64},
		"1e99999999999999999999":   {0, errNotInt64},
		"1" + zeros:                {0, errNotInt64},
		"1e-99999999999999999999":  {0, errNotInteger},
		"1e-9223372036854775808":   {0, errNotInteger},
		"0." + zeros + "1":         {0, errNotInteger},
	} {
		if got, err := parseInteger([]byte(number)); got != want.value || !errors.Is(err, want.err) {
			t.Errorf("parseInteger(%.40s) = %d, %v, want %d, %v", number, got, err, want.value, want.err)
		}
	}
}
