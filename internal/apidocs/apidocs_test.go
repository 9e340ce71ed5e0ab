package apidocs_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"plantstore/internal/apidocs"
)

const defaultURL = "http://127.0.0.1:8080"

func describe(t *testing.T, baseURL string) *apidocs.Description {
	t.Helper()
	d, err := apidocs.New(baseURL)
	if err != nil {
		t.Fatalf("New(%q): %v", baseURL, err)
	}
	return d
}

func TestYAMLIsServedAsWritten(t *testing.T) {
	t.Parallel()
	written, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	served := describe(t, defaultURL).YAML.Bytes()
	if diff := cmp.Diff(string(written), string(served)); diff != "" {
		t.Errorf("comments, order or layout changed (-written +served):\n%s", diff)
	}
}

func TestOnlyTheServerURLChanges(t *testing.T) {
	t.Parallel()
	before := strings.Split(string(describe(t, defaultURL).YAML.Bytes()), "\n")
	after := strings.Split(string(describe(t, "https://plants.test/api").YAML.Bytes()), "\n")
	if len(before) != len(after) {
		t.Fatalf("%d lines became %d", len(before), len(after))
	}
	var changed []string
	for i := range before {
		if before[i] != after[i] {
			changed = append(changed, after[i])
		}
	}
	if diff := cmp.Diff([]string{`  - url: "https://plants.test/api"`}, changed); diff != "" {
		t.Errorf("changed lines (-want +got):\n%s", diff)
	}
}

func TestJSONEqualsYAML(t *testing.T) {
	t.Parallel()
	d := describe(t, defaultURL)
	if !json.Valid(d.JSON.Bytes()) {
		t.Fatal("the JSON is not valid")
	}
	// Every JSON document is a YAML document, so one reader is enough for both.
	want, got := leaves(t, d.YAML.Bytes()), leaves(t, d.JSON.Bytes())
	if len(want) < 200 {
		t.Fatalf("only %d values were compared", len(want))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values or their order differ (-yaml +json):\n%s", diff)
	}
}

// leaves returns each scalar of a document with its path, type and spelling, in document order.
func leaves(t *testing.T, document []byte) []string {
	t.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal(document, &root); err != nil {
		t.Fatal(err)
	}
	var all []string
	var walk func(path string, node *yaml.Node)
	walk = func(path string, node *yaml.Node) {
		switch node.Kind {
		case yaml.MappingNode:
			for i := 0; i < len(node.Content); i += 2 {
				walk(path+"/"+node.Content[i].Value, node.Content[i+1])
			}
		case yaml.ScalarNode:
			all = append(all, path+" "+node.ShortTag()+" "+node.Value)
		default:
			for _, child := range node.Content {
				walk(path+"/-", child)
			}
		}
	}
	walk("", &root)
	return all
}

func TestJSONIsExactAndReadable(t *testing.T) {
	t.Parallel()
	text := string(describe(t, defaultURL+"/?a=1&b=<2>").JSON.Bytes())
	for _, want := range []string{
		`"id": 9007199254740993`,
		`"id": 9223372036854775807`,
		`"id": -9223372036854775808`,
		`"height": 1.25`,
		`Authorization: Bearer <ACCESS_TOKEN>`,
		`/?a=1&b=<2>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the JSON lacks %s", want)
		}
	}
}

func TestServerURL(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ base, want string }{
		"plain":                    {"https://plants.test", "https://plants.test"},
		"slash at the end":         {"https://plants.test/", "https://plants.test"},
		"path and slash":           {"https://plants.test/api/", "https://plants.test/api"},
		"IPv6":                     {"http://[::1]:8080", "http://[::1]:8080"},
		"quotes":                   {`http://h/'a"b'`, `http://h/'a"b'`},
		"comment":                  {"http://h/ #no comment", "http://h/ #no comment"},
		"mapping":                  {"a: b", "a: b"},
		"flow":                     {"[a, b]", "[a, b]"},
		"alias":                    {"*a", "*a"},
		"tag":                      {"!!int 1", "!!int 1"},
		"boolean":                  {"true", "true"},
		"number":                   {"1e3", "1e3"},
		"null":                     {"~", "~"},
		"empty":                    {"", ""},
		"line break":               {"http://h/\nopenapi: 2.0", "http://h/\nopenapi: 2.0"},
		"trailing blank":           {"http://h ", "http://h "},
		"control character":        {"http://h/\x01", "http://h/\x01"},
		"beyond ASCII":             {"http://bücher.test/桜🌸\u2028", "http://bücher.test/桜🌸\u2028"},
		"HTML":                     {"http://h/?a=1&b=<2>", "http://h/?a=1&b=<2>"},
		"braces name no variable":  {"http://h/{x}", "http://h/%7Bx%7D"},
		"looks like a placeholder": {"http://h/$1%s\\1", "http://h/$1%s\\1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := describe(t, tt.base)
			for _, document := range []*apidocs.Document{d.YAML, d.JSON} {
				if diff := cmp.Diff([]server{{URL: tt.want}}, parse(t, document).Servers); diff != "" {
					t.Errorf("servers (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestBaseURLThatIsNotUTF8(t *testing.T) {
	t.Parallel()
	if _, err := apidocs.New("http://h/\xff"); err == nil {
		t.Error("New accepted it")
	}
}

func TestBytesAreACopy(t *testing.T) {
	t.Parallel()
	d := describe(t, defaultURL)
	d.YAML.Bytes()[0] = 'X'
	if d.YAML.Bytes()[0] == 'X' {
		t.Error("a caller changed the document")
	}
}
