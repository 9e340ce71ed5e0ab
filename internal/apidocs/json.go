package apidocs

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

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
