package apidocs

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"plantstore/internal/must"
)

// TestGeneratedFiles checks that openapi.json and page.json are current.
func TestGeneratedFiles(t *testing.T) {
	t.Parallel()
	for file, encode := range map[string]func(*testing.T, *yaml.Node) []byte{"openapi.json": encodeJSON, "page.json": encodePage} {
		var root yaml.Node
		must.Do(t, yaml.Unmarshal(openAPIYAML, &root))
		must.Generate(t, file, string(encode(t, &root)))
	}
}

// encodeJSON encodes a YAML document as JSON in its original order. Numbers are copied
// literally, so that integers keep their precision.
func encodeJSON(t *testing.T, root *yaml.Node) []byte {
	t.Helper()
	var b bytes.Buffer
	writeJSON(t, jsontext.NewEncoder(&b, jsontext.WithIndent("  ")), root)
	return b.Bytes()
}

func writeJSON(t *testing.T, enc *jsontext.Encoder, node *yaml.Node) {
	t.Helper()
	var end jsontext.Token
	switch {
	case node.Kind == yaml.DocumentNode:
		writeJSON(t, enc, node.Content[0])
		return
	case node.Kind == yaml.MappingNode:
		must.Do(t, enc.WriteToken(jsontext.BeginObject))
		end = jsontext.EndObject
	case node.Kind == yaml.SequenceNode:
		must.Do(t, enc.WriteToken(jsontext.BeginArray))
		end = jsontext.EndArray
	case node.ShortTag() == "!!str":
		must.Do(t, enc.WriteToken(jsontext.String(node.Value)))
		return
	default: // the encoder rejects what is not JSON, such as 0x10, Yes or an alias
		must.Do(t, enc.WriteValue(jsontext.Value(node.Value)))
		return
	}
	for _, child := range node.Content {
		writeJSON(t, enc, child)
	}
	must.Do(t, enc.WriteToken(end))
}

// encodePage encodes the description for the page, safe in a script element. Scripts
// parse numbers as float64, so numbers that would lose digits are converted to strings.
func encodePage(t *testing.T, root *yaml.Node) []byte {
	t.Helper()
	info := field(root.Content[0], "info")
	drop(info, "contact") // a name without a link would look like a button
	moveErrors(t, info, field(root.Content[0], "tags"))
	preserveIntegers(t, root, false)
	var b bytes.Buffer
	writeJSON(t, jsontext.NewEncoder(&b, jsontext.EscapeForHTML(true)), root)
	return b.Bytes()
}

// moveErrors moves the section on errors from the introduction to a tag without operations,
// which the page shows after the operation: the table is long, and on a phone it would
// separate the field for the token from the request.
func moveErrors(t *testing.T, info, tags *yaml.Node) {
	t.Helper()
	description := field(info, "description")
	introduction, section, found := strings.Cut(description.Value, "## Errors\n\n")
	if !found || strings.Contains(section, "\n## ") || tags == nil {
		t.Fatal("the last section of info.description is not Errors, or there are no tags")
	}
	description.SetString(introduction)
	var tag yaml.Node
	must.Do(t, tag.Encode(struct{ Name, Description string }{"Errors", section}))
	tags.Content = append(tags.Content, &tag)
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
func preserveIntegers(t *testing.T, node *yaml.Node, ofRequest bool) {
	t.Helper()
	if isLargeInteger(node) {
		node.SetString(node.Value)
	}
	for i, child := range node.Content {
		inRequest := ofRequest
		if node.Kind == yaml.MappingNode && i%2 == 1 { // a value
			key := node.Content[i-1].Value
			if key == "value" && ofRequest {
				child.SetString(string(bytes.TrimSpace(encodeJSON(t, child))))
			}
			inRequest = ofRequest || key == "requestBody"
		}
		preserveIntegers(t, child, inRequest)
	}
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
