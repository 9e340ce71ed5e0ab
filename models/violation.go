package models

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/go-playground/validator/v10"
)

// maxDepth is how deep arrays and objects may be nested in a body (C2.10). It
// is the bound of the JSON library, stated here to be told to clients.
const maxDepth = 10_000

// maxPlace bounds how much of a member's name, in runes, a message repeats.
const maxPlace = 64

// A violation says what is wrong with one member of a NewPlant.
type violation struct {
	member    string
	complaint string
}

// invalidError returns the Error for JSON that is no NewPlant. It names the
// members in the order in which the schema has them.
func invalidError(misfits []violation, missing validator.ValidationErrors) *Error {
	violations := slices.Clone(misfits)
	for _, field := range missing {
		if !noted(misfits, field.Field()) {
			violations = append(violations, violation{field.Field(), "is required"})
		}
	}
	slices.SortStableFunc(violations, func(a, b violation) int {
		return strings.Compare(a.member, b.member)
	})
	texts := make([]string, len(violations))
	for i, v := range violations {
		texts[i] = v.member + ": " + v.complaint
	}
	return NewError(CodeUnprocessable, strings.Join(texts, "; "))
}

// noted reports whether the member is there, or all members are not because the
// body is no object, so that "is required" would say too much.
func noted(misfits []violation, member string) bool {
	return slices.ContainsFunc(misfits, func(v violation) bool {
		return v.member == member || v.member == "body"
	})
}

// kindName names a kind of JSON value as RFC 8259 does.
func kindName(kind jsontext.Kind) string {
	switch kind {
	case jsontext.KindNull:
		return "null"
	case jsontext.KindTrue, jsontext.KindFalse:
		return "a boolean"
	case jsontext.KindString:
		return "a string"
	case jsontext.KindNumber:
		return "a number"
	case jsontext.KindBeginObject:
		return "an object"
	default:
		return "an array"
	}
}

// syntaxError returns the Error for a body that is not JSON.
func syntaxError(data []byte, err error) *Error {
	var syntactic *jsontext.SyntacticError
	if !errors.As(err, &syntactic) {
		return NewError(CodeBadRequest, "body: is not valid JSON").WithCause(err)
	}
	// No cause: it repeats names of members, where a token may stand (C4.25), and
	// says no more.
	return NewError(CodeBadRequest, complain(data, syntactic))
}

// complain says in words of our own what is wrong with the JSON, and where.
func complain(data []byte, err *jsontext.SyntacticError) string {
	at := place(err.JSONPointer)
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
	return fmt.Sprintf("%s: %s at byte %d", at, faultAt(data, offset), offset)
}

// faultAt says what is wrong with the JSON that cannot go on at offset.
func faultAt(data []byte, offset int) string {
	r, size := utf8.DecodeRune(data[offset:])
	switch {
	case jsontext.Value(data[:offset]).IsValid():
		return "goes on after the end of its JSON"
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

// place names the value that a JSON pointer (RFC 6901) leads to: a member of
// the body by its name, one further down by the pointer.
func place(pointer jsontext.Pointer) string {
	name := string(pointer)
	switch {
	case name == "":
		return "body"
	case name == "/":
		return `""`
	case strings.Count(name, "/") == 1:
		name = pointer.LastToken()
	}
	if runes := []rune(name); len(runes) > maxPlace {
		return string(runes[:maxPlace]) + "…"
	}
	return name
}
