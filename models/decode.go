package models

import (
	"errors"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/go-playground/validator/v10"
)

// A Decoder turns JSON into a [NewPlant] by the rules of C2.10 to C2.14. It may
// be used by any number of goroutines at once.
type Decoder struct {
	validate *validator.Validate
}

// NewDecoder returns a Decoder.
func NewDecoder() *Decoder {
	validate := validator.New(validator.WithRequiredStructEnabled())
	validate.RegisterTagNameFunc(func(field reflect.StructField) string {
		return field.Tag.Get("json")
	})
	return &Decoder{validate: validate}
}

// Decode reads exactly one NewPlant from data into p. Data that is not JSON by
// RFC 8259 and RFC 7493 is an [Error] of [CodeBadRequest]; JSON that is no
// NewPlant is one of [CodeUnprocessable], which names all that is wrong with it.
func (d *Decoder) Decode(data []byte, p *NewPlant) error {
	if err := json.Unmarshal(data, p); err != nil {
		return syntaxError(data, err)
	}
	err := d.validate.Struct(*p) // a copy, of which the validator makes no further ones
	if err == nil && len(p.misfits) == 0 {
		return nil
	}
	var missing validator.ValidationErrors
	_ = errors.As(err, &missing) // it has no other errors about a struct
	return invalidError(p.misfits, missing)
}

// UnmarshalJSONFrom implements [json.UnmarshalerFrom]. It fails only where the
// JSON itself is wrong: a member of the wrong type is noted, so that Decode can
// name all of them at once, and an unknown one is skipped (C2.11).
func (p *NewPlant) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*p = NewPlant{}
	if kind := dec.PeekKind(); kind != jsontext.KindBeginObject {
		p.misfit("body", "must be an object, not "+kindName(kind))
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
		if err := p.readMember(dec, name.String()); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// readMember reads the value of the member with that name.
func (p *NewPlant) readMember(dec *jsontext.Decoder, name string) (err error) {
	switch name {
	case "id":
		p.ID, err = p.readInteger(dec, name)
	case "name":
		p.Name, err = p.readString(dec, name)
	case "tag":
		p.Tag, err = p.readString(dec, name)
	default:
		err = dec.SkipValue()
	}
	return err
}

// readString reads the string that comes next. If it is something else there is a
// note, and no member.
func (p *NewPlant) readString(dec *jsontext.Decoder, member string) (m Member[string], err error) {
	if kind := dec.PeekKind(); kind != jsontext.KindString {
		p.misfit(member, "must be a string, not "+kindName(kind))
		return m, dec.SkipValue()
	}
	token, err := dec.ReadToken()
	if err != nil {
		return m, err
	}
	return Member[string]{token.String(), true}, nil
}

// readInteger reads the int64 that comes next. If it is something else there is a
// note, and no member.
func (p *NewPlant) readInteger(dec *jsontext.Decoder, member string) (m Member[int64], err error) {
	if kind := dec.PeekKind(); kind != jsontext.KindNumber {
		p.misfit(member, "must be an integer, not "+kindName(kind))
		return m, dec.SkipValue()
	}
	number, err := dec.ReadValue()
	if err != nil {
		return m, err
	}
	value, err := parseInteger(number)
	if err != nil {
		p.misfit(member, err.Error())
		return m, nil
	}
	return Member[int64]{value, true}, nil
}

// misfit notes what is wrong with a member that is there.
func (p *NewPlant) misfit(member, complaint string) {
	p.misfits = append(p.misfits, violation{member, complaint})
}
