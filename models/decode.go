package models

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/go-playground/validator/v10"
)

// A Decoder decodes a [NewPlant] from JSON and validates it (C2.10 to C2.15). It is
// safe for concurrent use.
type Decoder struct {
	maxBytes  int64
	validator *validator.Validate
}

// NewDecoder returns a Decoder of NewPlants in at most maxBytes (C2.15).
func NewDecoder(maxBytes int64) *Decoder {
	return &Decoder{maxBytes: maxBytes, validator: newValidator()}
}

// Decode decodes exactly one NewPlant from data into p. It returns an [Error] of
// [CodeContentTooLarge] for data beyond the limit, one of [CodeBadRequest] for data that is
// not JSON (RFC 8259, RFC 7493), and one of [CodeUnprocessable], which lists all
// violations, for JSON that is not a NewPlant.
func (d *Decoder) Decode(data []byte, p *NewPlant) error {
	if int64(len(data)) > d.maxBytes {
		return TooLarge(d.maxBytes)
	}
	if err := json.Unmarshal(data, p); err != nil {
		syntactic, _ := errors.AsType[*jsontext.SyntacticError](err) // there is no other
		return NewError(CodeBadRequest, syntaxMessage(data, syntactic))
	}
	return d.validate(p)
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom]. It fails only for malformed JSON. A field of the wrong type
// is a violation, since Decode reports all of them at once, and unknown fields are skipped (C2.11).
func (p *NewPlant) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*p = NewPlant{}
	if kind := dec.PeekKind(); kind != jsontext.KindBeginObject {
		p.addViolation("body", "must be an object, not "+kindNames[kind])
		return dec.SkipValue()
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != jsontext.KindEndObject {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if err := p.readField(dec, name.String()); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// readField decodes the value of the named field. It keeps no reference to name, so that the name is
// not allocated.
func (p *NewPlant) readField(dec *jsontext.Decoder, name string) (err error) {
	switch name {
	case "id":
		p.ID, err = p.readInteger(dec, "id")
	case "name":
		p.Name, err = p.readString(dec, "name")
	case "tag":
		p.Tag, err = p.readString(dec, "tag")
	default:
		err = dec.SkipValue()
	}
	return err
}

// readString decodes a string. For a value of another type it records a violation
// and returns an absent field.
func (p *NewPlant) readString(dec *jsontext.Decoder, name string) (f Field[string], err error) {
	if kind := dec.PeekKind(); kind != jsontext.KindString {
		p.addViolation(name, "must be a string, not "+kindNames[kind])
		return f, dec.SkipValue()
	}
	token, err := dec.ReadToken()
	if err != nil {
		return f, err
	}
	return Field[string]{token.String(), true}, nil
}

// readInteger decodes an int64. For a value of another type or range it records a
// violation and returns an absent field.
func (p *NewPlant) readInteger(dec *jsontext.Decoder, name string) (f Field[int64], err error) {
	if kind := dec.PeekKind(); kind != jsontext.KindNumber {
		p.addViolation(name, "must be an integer, not "+kindNames[kind])
		return f, dec.SkipValue()
	}
	number, err := dec.ReadValue()
	if err != nil {
		return f, err
	}
	value, err := parseInteger(number)
	if err != nil {
		p.addViolation(name, err.Error())
		return f, nil
	}
	return Field[int64]{value, true}, nil
}

// kindNames are the names of the kinds of JSON values in RFC 8259.
var kindNames = map[jsontext.Kind]string{ //nolint:gochecknoglobals // never changed
	jsontext.KindNull: "null", jsontext.KindTrue: "a boolean", jsontext.KindFalse: "a boolean", jsontext.KindString: "a string",
	jsontext.KindNumber: "a number", jsontext.KindBeginObject: "an object", jsontext.KindBeginArray: "an array",
}

// Violations of a number that is not a valid id, as messages for the client.
var (
	errNotInteger = errors.New("must be an integer, not a number with a fraction")
	errNotInt64   = errors.New("must be from -9223372036854775808 to 9223372036854775807")
)

// maxInt64Digits is the number of digits of the longest int64.
const maxInt64Digits = 19

// parseInteger returns the value of a JSON number that is an integer as JSON Schema 2020-12 defines it: 1.0, 1e2
// and 100e-2 are integers (C2.13). Time is linear in its length, whatever its exponent is. It returns
// errNotInteger or errNotInt64.
func parseInteger(number []byte) (int64, error) {
	if v, err := strconv.ParseInt(string(number), 10, 64); err == nil {
		return v, nil
	}
	unsigned := bytes.TrimPrefix(number, []byte("-"))
	sign := number[:len(number)-len(unsigned)]
	digits, scale := significant(unsigned)
	switch {
	case len(digits) == 0:
		return 0, nil
	case scale < 0:
		return 0, errNotInteger
	case int64(len(digits))+scale > maxInt64Digits:
		return 0, errNotInt64
	}
	v, err := strconv.ParseInt(string(sign)+string(digits)+strings.Repeat("0", int(scale)), 10, 64)
	if err != nil {
		return 0, errNotInt64
	}
	return v, nil
}

// significant returns the digits of an unsigned JSON number without leading and trailing zeros, and the power
// of ten to multiply them with. That is clamped to a bound that the digits of no body can compensate.
func significant(number []byte) (digits []byte, scale int64) {
	const bound = math.MaxInt64 / 4
	mantissa := number
	if i := bytes.IndexAny(number, "eE"); i >= 0 {
		exponent, _ := strconv.ParseInt(string(number[i+1:]), 10, 64) // out of range: the nearest int64
		mantissa, scale = number[:i], min(max(exponent, -bound), bound)
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	digits = slices.Concat(whole, fraction)
	kept := bytes.TrimRight(digits, "0")
	return bytes.TrimLeft(kept, "0"), scale - int64(len(fraction)) + int64(len(digits)-len(kept))
}

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
