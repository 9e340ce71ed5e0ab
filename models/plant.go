package models

import "github.com/go-json-experiment/json/jsontext"

// A Plant is a plant as clients get it back, and as the store keeps it.
type Plant struct {
	// Name is kept byte for byte as the client sent it (C2.14).
	Name string `json:"name"`
	// Tag says the type of the plant. Nil means that there is none, which is
	// not the same as an empty one (C1.2).
	Tag *string `json:"tag,omitzero"`
}

// Equal reports whether p and q are the same plant.
func (p Plant) Equal(q Plant) bool {
	if p.Name != q.Name || (p.Tag == nil) != (q.Tag == nil) {
		return false
	}
	return p.Tag == nil || *p.Tag == *q.Tag
}

// AppendMembers appends the members of p as JSON, without braces: what
// [json.Marshal] makes of them, in less time. It fails for strings that are not
// UTF-8.
func (p Plant) AppendMembers(b []byte) ([]byte, error) {
	b, err := jsontext.AppendQuote(append(b, `"name":`...), p.Name)
	if err == nil && p.Tag != nil {
		b, err = jsontext.AppendQuote(append(b, `,"tag":`...), *p.Tag)
	}
	return b, err
}

// AppendJSON appends p as JSON. It fails for strings that are not UTF-8.
func (p Plant) AppendJSON(b []byte) ([]byte, error) {
	b, err := p.AppendMembers(append(b, '{'))
	return append(b, '}'), err
}

// A NewPlant is the body of a create: a [Plant] and the id that the client
// chose for it. [Decoder] fills it.
type NewPlant struct {
	ID   Member[int64]  `json:"id"   validate:"required"`
	Name Member[string] `json:"name" validate:"required"`
	Tag  Member[string] `json:"tag"`

	misfits []violation // members that are there, but not of their type
}

// A Member is a member of an object that may be absent, so that an id of 0 and an
// empty name are told from none at all (C2.12). It is no pointer: the value has its
// place in the object, also where it is validated.
type Member[T any] struct {
	Value   T
	Present bool
}

// Plant returns p without its id. It must not be called on a NewPlant that did
// not come out of [Decoder] without an error. The tag stays that of p.
func (p *NewPlant) Plant() Plant {
	plant := Plant{Name: p.Name.Value}
	if p.Tag.Present {
		plant.Tag = &p.Tag.Value
	}
	return plant
}
