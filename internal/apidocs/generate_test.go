package apidocs

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"plantstore/internal/must"
)

var update = flag.Bool("update", false, "rewrite openapi.json and page.json")

// TestGeneratedFiles checks that openapi.json and page.json are current.
func TestGeneratedFiles(t *testing.T) {
	t.Parallel()
	for file, generate := range map[string]func(*yaml.Node) ([]byte, error){"openapi.json": encodeJSON, "page.json": encodePage} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			want, err := generate(read(t, string(openAPIYAML)))
			if err != nil {
				t.Fatalf("openapi.yaml: %v", err)
			}
			if *update {
				must.Do(t, os.WriteFile(file, want, 0o600))
			}
			got := must.Get(os.ReadFile(file))(t)
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("not current; go test ./internal/apidocs -update rewrites it (-want +got):\n%s", diff)
			}
		})
	}
}

func read(t *testing.T, document string) *yaml.Node {
	t.Helper()
	var root yaml.Node
	must.Do(t, yaml.Unmarshal([]byte(document), &root))
	return &root
}

// encodeJSON encodes a YAML document as JSON in its original order. Numbers are copied
// literally, so that integers keep their precision.
func encodeJSON(root *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	if err := writeJSON(jsontext.NewEncoder(&b, jsontext.WithIndent("  ")), root); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func writeJSON(enc *jsontext.Encoder, node *yaml.Node) error {
	switch node.Kind {
	case yaml.DocumentNode:
		return writeJSON(enc, node.Content[0])
	case yaml.MappingNode:
		return writeNodes(enc, jsontext.BeginObject, node.Content, jsontext.EndObject)
	case yaml.SequenceNode:
		return writeNodes(enc, jsontext.BeginArray, node.Content, jsontext.EndArray)
	case yaml.ScalarNode:
		return writeScalar(enc, node)
	default:
		return fmt.Errorf("line %d: an alias has no counterpart in JSON", node.Line)
	}
}

func writeNodes(enc *jsontext.Encoder, begin jsontext.Token, nodes []*yaml.Node, end jsontext.Token) error {
	if err := enc.WriteToken(begin); err != nil {
		return err
	}
	for _, node := range nodes {
		if err := writeJSON(enc, node); err != nil {
			return err
		}
	}
	return enc.WriteToken(end)
}

// writeScalar writes a string quoted and any other scalar literally. The encoder rejects
// literals that are not valid JSON, such as 0x10 or Yes.
func writeScalar(enc *jsontext.Encoder, node *yaml.Node) error {
	if node.ShortTag() == "!!str" {
		return enc.WriteToken(jsontext.String(node.Value))
	}
	if err := enc.WriteValue(jsontext.Value(node.Value)); err != nil {
		return fmt.Errorf("line %d: %w", node.Line, err)
	}
	return nil
}

// encodePage encodes the description for the page, safe in a script element. Scripts
// parse numbers as float64, so numbers that would lose digits are converted to strings.
func encodePage(root *yaml.Node) ([]byte, error) {
	if info := field(root.Content[0], "info"); info != nil {
		drop(info, "contact") // a name without a link would look like a button
		if err := moveErrors(info, field(root.Content[0], "tags")); err != nil {
			return nil, err
		}
	}
	if err := preserveIntegers(root, false); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err := writeJSON(jsontext.NewEncoder(&b, jsontext.EscapeForHTML(true)), root)
	return b.Bytes(), err
}

// moveErrors moves the section on errors from the introduction to a tag without operations,
// which the page shows after the operation: the table is long, and on a phone it would
// separate the field for the token from the request.
func moveErrors(info, tags *yaml.Node) error {
	const heading = "## Errors\n\n"
	description := field(info, "description")
	introduction, section, found := strings.Cut(description.Value, heading)
	if !found || strings.Contains(section, "\n## ") || tags == nil {
		return errors.New("the last section of info.description is not Errors, or there are no tags")
	}
	description.SetString(introduction)
	var tag yaml.Node
	if err := tag.Encode(struct{ Name, Description string }{"Errors", section}); err != nil {
		return err
	}
	tags.Content = append(tags.Content, &tag)
	return nil
}

// field returns the value under key in a mapping, or nil.
func field(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// drop removes key from a mapping.
func drop(mapping *yaml.Node, key string) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			mapping.Content = slices.Delete(mapping.Content, i, i+2)
			return
		}
	}
}

// preserveIntegers converts request examples, which the page shows and sends literally,
// and large integers elsewhere to strings.
func preserveIntegers(node *yaml.Node, ofRequest bool) error {
	if isLargeInteger(node) {
		node.SetString(node.Value)
	}
	if node.Kind != yaml.MappingNode {
		for _, child := range node.Content {
			if err := preserveIntegers(child, ofRequest); err != nil {
				return err
			}
		}
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i].Value, node.Content[i+1]
		if key == "value" && ofRequest {
			var b bytes.Buffer
			if err := writeJSON(jsontext.NewEncoder(&b, jsontext.WithIndent("  ")), value); err != nil {
				return err
			}
			value.SetString(string(bytes.TrimSpace(b.Bytes())))
		}
		if err := preserveIntegers(value, ofRequest || key == "requestBody"); err != nil {
			return err
		}
	}
	return nil
}

// isLargeInteger reports whether a node is an integer that a float64 may not represent exactly.
func isLargeInteger(node *yaml.Node) bool {
	const most = 1<<53 - 1
	if node.Kind != yaml.ScalarNode || node.ShortTag() != "!!int" {
		return false
	}
	n, err := strconv.ParseInt(node.Value, 10, 64)
	return err != nil || n < -most || n > most
}
