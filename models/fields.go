package models

import "reflect"

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

// textFields is the list of the fields of a plant that are texts, in the order in which they are
// written. Export, import and tables follow it.
var textFields = [...]TextField{ //nolint:gochecknoglobals // never changed
	{"name", true, func(p Plant) *string { return &p.Name }},
	{"tag", false, func(p Plant) *string { return p.Tag }},
}

// TextFields returns the fields of a plant that are texts, in the order in which they are written.
func TextFields() []TextField { return textFields[:] }
