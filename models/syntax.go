package models

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxDepth is the maximum nesting depth of a body (C2.10), the limit of the JSON library.
	maxDepth = 10_000
	// maxLocation is the maximum length of a field's name in a message, in runes.
	maxLocation = 64
)

// syntaxMessage returns the message for data that is not JSON. The Error has no cause: it would repeat names of
// fields, which may be tokens (C4.25).
func syntaxMessage(data []byte, err *jsontext.SyntacticError) string {
	at := location(err.JSONPointer)
	switch {
	case len(bytes.TrimLeft(data, " \t\r\n")) == 0:
		return "body: is empty; send a NewPlant as JSON"
	case bytes.HasPrefix(data, []byte("\ufeff")):
		return "body: starts with a byte order mark; send UTF-8 without one"
	case errors.Is(err, jsontext.ErrDuplicateName):
		return at + ": appears more than once in its object"
	case strings.Count(string(err.JSONPointer), "/") >= maxDepth:
		return fmt.Sprintf("body: is nested deeper than %d levels", maxDepth)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Sprintf("%s: the JSON is cut short, it ends after %d bytes", at, len(data))
	}
	offset := min(int(err.ByteOffset), len(data))
	return fmt.Sprintf("%s: %s at byte %d", at, syntaxFault(data, offset), offset)
}

func syntaxFault(data []byte, offset int) string {
	r, size := utf8.DecodeRune(data[offset:])
	switch {
	case hasTrailingComma(data, offset):
		return "has a trailing comma"
	case jsontext.Value(data[:offset]).IsValid():
		return "continues after the end of its JSON"
	case r == utf8.RuneError && size <= 1:
		return "is not UTF-8"
	case r == '\\':
		return "has an escape that is unknown, or stands for half a surrogate pair,"
	case r < ' ':
		return "has a control character that is not escaped"
	default:
		return "is not valid JSON"
	}
}

// hasTrailingComma reports whether the fault at offset is a comma before the end of an object or array: it is at
// either of the two.
func hasTrailingComma(data []byte, offset int) bool {
	last := max(0, len(bytes.TrimRight(data[:offset], " \t\r\n"))-1)
	return trailingComma.Match(data[offset:]) || trailingComma.Match(data[last:])
}

var trailingComma = regexp.MustCompile(`^,[ \t\r\n]*[}\]]`)

// location returns the name of the value at a JSON pointer (RFC 6901): the field's name
// at the top level, the pointer below it, cut to maxLocation.
func location(pointer jsontext.Pointer) string {
	name := string(pointer)
	switch {
	case name == "":
		return "body"
	case name == "/":
		return `""`
	case strings.Count(name, "/") == 1:
		name = pointer.LastToken()
	}
	if runes := []rune(name); len(runes) > maxLocation {
		return string(runes[:maxLocation]) + "…"
	}
	return name
}
