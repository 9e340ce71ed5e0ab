package models

// textFields is the one list of the fields of a plant besides its id, in the order in which they are
// written. What decodes, validates, compares, measures, exports or imports a plant follows it.
var textFields = [...]TextField{ //nolint:gochecknoglobals // never changed
	textField("name",
		func(p *NewPlant) *Field[string] { return &p.Name },
		func(p Plant) Field[string] { return Field[string]{p.Name, true} },
		func(p Plant, text *string) Plant { p.Name = *text; return p }),
	textField("tag",
		func(p *NewPlant) *Field[string] { return &p.Tag },
		func(p Plant) Field[string] { return optional(p.Tag) },
		func(p Plant, text *string) Plant { p.Tag = text; return p }),
}

// A TextField is a field of a plant besides its id. All of them are texts.
type TextField struct {
	// Name is the name in JSON and in CSV.
	Name string
	// Required reports whether every plant has the field.
	Required bool

	key  string // Name as a key in JSON
	sent func(*NewPlant) *Field[string]
	of   func(Plant) Field[string]
	with func(Plant, *string) Plant
}

// textField returns a TextField, by its name and the functions that return it as decoded, return it as
// stored, and set it.
func textField(name string, sent func(*NewPlant) *Field[string], of func(Plant) Field[string], with func(Plant, *string) Plant) TextField {
	return TextField{Name: name, Required: of(Plant{}).Present, key: `"` + name + `":`, sent: sent, of: of, with: with}
}

func optional(text *string) Field[string] {
	if text == nil {
		return Field[string]{}
	}
	return Field[string]{*text, true}
}

// TextFields returns the fields of a plant besides its id, in the order in which they are written.
func TextFields() []TextField { return textFields[:] }

// Of returns the field of a plant.
func (f TextField) Of(p Plant) Field[string] { return f.of(p) }
