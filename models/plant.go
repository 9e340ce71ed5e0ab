// Package models defines the types on the wire: Plant, NewPlant with its validation,
// and Error with its codes. It also detects tokens in text that may be logged. It
// imports no other package of this module.
package models

import (
	"reflect"

	"github.com/go-json-experiment/json/jsontext"
)

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
	sameTag := p.Tag == q.Tag || p.Tag != nil && q.Tag != nil && *p.Tag == *q.Tag
	return p.Name == q.Name && sameTag
}

// Clone returns a copy of p that shares no memory which the owner of p may change.
func (p Plant) Clone() Plant {
	if p.Tag != nil {
		p.Tag = new(*p.Tag)
	}
	return p
}

// Size returns the bytes of all texts.
func (p Plant) Size() int {
	if p.Tag == nil {
		return len(p.Name)
	}
	return len(p.Name) + len(*p.Tag)
}

// AppendFields appends the fields of p as JSON, without braces, byte for byte as
// [json.Marshal] does but faster. It fails for strings that are not UTF-8.
func (p Plant) AppendFields(b []byte) ([]byte, error) {
	b, err := jsontext.AppendQuote(append(b, `"name":`...), p.Name)
	if p.Tag != nil && err == nil {
		b, err = jsontext.AppendQuote(append(b, `,"tag":`...), *p.Tag)
	}
	return b, err
}

// AppendJSON appends p as JSON. It fails for strings that are not UTF-8.
func (p Plant) AppendJSON(b []byte) ([]byte, error) {
	b, err := p.AppendFields(append(b, '{'))
	return append(b, '}'), err
}

// PlantsPath is the path of the only operation (C1.1).
const PlantsPath = "/plants"

// A NewPlant is the body of a create request: a [Plant] and the id that the client
// chose for it. [Decoder] fills it, and checks the rules in the struct tags. Their texts are in
// validation.go. The rules of a field that may be absent begin with omitempty.
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
func (p *NewPlant) Plant() Plant {
	plant := Plant{Name: p.Name.Value}
	if p.Tag.Present {
		plant.Tag = &p.Tag.Value
	}
	return plant
}

// PropertyNames returns the names of all properties of a [NewPlant] in JSON.
func PropertyNames() (names []string) {
	for field := range reflect.TypeFor[NewPlant]().Fields() {
		if field.IsExported() {
			names = append(names, field.Tag.Get("json"))
		}
	}
	return names
}

// A TextField is a field of a plant that is a text. All of them are, besides the id.
type TextField struct {
	// Name is the name in JSON and in CSV.
	Name string
	// Required reports whether every plant has the field.
	Required bool
	// Of returns the field of a plant, or nil if the plant has none.
	Of func(Plant) *string
}

// TextFields returns the fields of a plant that are texts, in the order in which export, import and tables
// write them.
func TextFields() []TextField { return textFields[:] }

var textFields = [...]TextField{ //nolint:gochecknoglobals // never changed
	{"name", true, func(p Plant) *string { return &p.Name }},
	{"tag", false, func(p Plant) *string { return p.Tag }},
}
