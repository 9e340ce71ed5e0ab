// Package models defines the types on the wire: Plant, NewPlant with its validation,
// and Error with its codes. It also detects tokens in text that may be logged. It
// imports no other package of this module.
package models

import "github.com/go-json-experiment/json/jsontext"

// A Plant is a plant as the store keeps it and as the response contains it.
type Plant struct {
	// Name is kept byte for byte as the client sent it (C2.14).
	Name string `json:"name"`
	// Tag is the type of the plant. Nil means that there is no tag, which
	// differs from an empty tag (C1.2).
	Tag *string `json:"tag,omitzero"`
}

// Equal reports whether p and q are the same plant.
func (p Plant) Equal(q Plant) bool {
	for i := range textFields {
		if textFields[i].of(p) != textFields[i].of(q) {
			return false
		}
	}
	return true
}

// Clone returns a copy of p that shares no memory which the owner of p may change.
func (p Plant) Clone() Plant {
	for i := range textFields {
		if textFields[i].Required {
			continue // strings do not change
		}
		if text := textFields[i].of(p); text.Present {
			p = textFields[i].with(p, new(text.Value))
		}
	}
	return p
}

// Size returns the bytes of all texts.
func (p Plant) Size() (bytes int) {
	for i := range textFields {
		bytes += len(textFields[i].of(p).Value)
	}
	return bytes
}

// AppendFields appends the fields of p as JSON, without braces, byte for byte as
// [json.Marshal] does but faster. It fails for strings that are not UTF-8.
func (p Plant) AppendFields(b []byte) (_ []byte, err error) {
	for i := range textFields {
		text := textFields[i].of(p)
		if !text.Present {
			continue
		}
		if i > 0 { // the first field is required
			b = append(b, ',')
		}
		if b, err = jsontext.AppendQuote(append(b, textFields[i].key...), text.Value); err != nil {
			return b, err
		}
	}
	return b, nil
}

// AppendJSON appends p as JSON. It fails for strings that are not UTF-8.
func (p Plant) AppendJSON(b []byte) ([]byte, error) {
	b, err := p.AppendFields(append(b, '{'))
	return append(b, '}'), err
}

// A NewPlant is the body of a create request: a [Plant] and the id that the client
// chose for it. [Decoder] fills it.
type NewPlant struct {
	ID   Field[int64]  `json:"id"   validate:"required"`
	Name Field[string] `json:"name" validate:"required"`
	Tag  Field[string] `json:"tag"`

	violations map[string]string // messages, by field, or for all of the "body"
}

// A Field is the value of a JSON field that may be absent. It distinguishes an absent
// id or name from 0 or "" (C2.12). Unlike a pointer, it needs no allocation.
type Field[T any] struct {
	Value   T
	Present bool
}

// Plant returns p without its id. Call it only on a NewPlant that [Decoder] has
// validated. Optional fields point into p.
func (p *NewPlant) Plant() (plant Plant) {
	for i := range textFields {
		if text := textFields[i].sent(p); text.Present {
			plant = textFields[i].with(plant, &text.Value)
		}
	}
	return plant
}
