package apidocs

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// A pageCopy is the description for the page. Scripts parse numbers as float64, so
// numbers that would lose digits are converted to strings or removed.
type pageCopy struct {
	title, summary string
	json           []byte // safe in a script element
}

func describePage(openAPI []byte) (pageCopy, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(openAPI, &root); err != nil {
		return pageCopy{}, err
	}
	var d pageCopy
	if info := member(root.Content[0], "info"); info != nil {
		d.title, d.summary = text(info, "title"), text(info, "summary")
		drop(info, "contact") // a name without a link would look like a button
	}
	if err := preserveIntegers(&root, false); err != nil {
		return pageCopy{}, err
	}
	var b bytes.Buffer
	if err := writeJSON(jsontext.NewEncoder(&b, jsontext.EscapeForHTML(true)), &root); err != nil {
		return pageCopy{}, err
	}
	d.json = b.Bytes()
	return d, nil
}

// text returns the scalar under key in a mapping, or "".
func text(mapping *yaml.Node, key string) string {
	if value := member(mapping, key); value != nil {
		return value.Value
	}
	return ""
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
// and large integers elsewhere to strings. It removes minimum and maximum if they are
// large integers: the format int64 implies them.
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
		switch {
		case (key == "minimum" || key == "maximum") && isLargeInteger(value):
			node.Content = slices.Delete(node.Content, i, i+2)
			i -= 2
			continue
		case key == "value" && ofRequest:
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
