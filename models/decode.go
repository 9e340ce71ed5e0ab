package models

import (
	"errors"

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
