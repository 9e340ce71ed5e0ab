package apidocs

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// A pageCopy is the description as the page needs it. Scripts read every number
// as a float64, so what would lose digits there is made text or left out.
type pageCopy struct {
	title, summary string
	json           []byte // can stand in a script element
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
	if err := keepText(&root, false); err != nil {
		return pageCopy{}, err
	}
	var b bytes.Buffer
	if err := writeJSON(jsontext.NewEncoder(&b, jsontext.EscapeForHTML(true)), &root); err != nil {
		return pageCopy{}, err
	}
	d.json = b.Bytes()
	return d, nil
}

// text returns the text under key in a mapping, or nothing.
func text(mapping *yaml.Node, key string) string {
	if value := member(mapping, key); value != nil {
		return value.Value
	}
	return ""
}

// drop takes key out of a mapping.
func drop(mapping *yaml.Node, key string) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			mapping.Content = slices.Delete(mapping.Content, i, i+2)
			return
		}
	}
}

// keepText makes the examples of a request text, which the page shows and sends
// as it is, and so great integers elsewhere. Limits that are great integers are
// left out: the format int64 says the same.
func keepText(node *yaml.Node, ofRequest bool) error {
	if isGreatInteger(node) {
		node.SetString(node.Value)
	}
	if node.Kind != yaml.MappingNode {
		for _, child := range node.Content {
			if err := keepText(child, ofRequest); err != nil {
				return err
			}
		}
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i].Value, node.Content[i+1]
		switch {
		case (key == "minimum" || key == "maximum") && isGreatInteger(value):
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
		if err := keepText(value, ofRequest || key == "requestBody"); err != nil {
			return err
		}
	}
	return nil
}

// isGreatInteger reports whether a node is an integer that a float64 may not hold.
func isGreatInteger(node *yaml.Node) bool {
	const most = 1<<53 - 1
	if node.Kind != yaml.ScalarNode || node.ShortTag() != "!!int" {
		return false
	}
	n, err := strconv.ParseInt(node.Value, 10, 64)
	return err != nil || n < -most || n > most
}
