package apidocs

import (
	"testing"

	"go.yaml.in/yaml/v3"
)

func read(t *testing.T, document string) *yaml.Node {
	t.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(document), &root); err != nil {
		t.Fatal(err)
	}
	return &root
}

func TestEncodeJSON(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ yaml, want string }{
		"order":                {"b: 1\na: 2", "{\n  \"b\": 1,\n  \"a\": 2\n}\n"},
		"digits":               {"[9223372036854775807, 1.10, 1e2]", "[\n  9223372036854775807,\n  1.10,\n  1e2\n]\n"},
		"strings":              {`["1", '<&>', "a\tb"]`, "[\n  \"1\",\n  \"<&>\",\n  \"a\\tb\"\n]\n"},
		"words":                {"[true, false, null]", "[\n  true,\n  false,\n  null\n]\n"},
		"nothing":              {"{}", "{}\n"},
		"empty value":          {"a:", ""},
		"hexadecimal":          {"0x10", ""},
		"infinity":             {"[.inf]", ""},
		"capital":              {"a: True", ""},
		"name that is no text": {"1: a", ""},
		"name twice":           {"a: 1\nb: 2\na: 3", ""},
		"alias":                {"a: &x 1\nb: *x", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := encodeJSON(read(t, tt.yaml))
			if string(got) != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestSourceWithoutOneServer(t *testing.T) {
	t.Parallel()
	for _, document := range []string{
		"openapi: 3.1.0",
		"servers: []",
		"servers: [{url: a}, {url: b}]",
		"servers: [{description: a}]",
	} {
		if err := setServer(read(t, document), "http://h"); err == nil {
			t.Errorf("%q: no error", document)
		}
	}
}
