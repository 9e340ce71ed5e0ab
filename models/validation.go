package models

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-playground/validator/v10"
)

// newValidator returns the validator of the struct tags. It names fields as JSON does.
func newValidator() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(field reflect.StructField) string { return field.Tag.Get("json") })
	v.RegisterCustomTypeFunc(fieldValue, Field[int64]{}, Field[string]{})
	return v
}

// fieldValue returns the value of a [Field], to which the rules apply, or nil if it is absent.
func fieldValue(field reflect.Value) any {
	value, present := field.Field(0), field.Field(1).Bool()
	switch {
	case !present:
		return nil
	case value.IsZero():
		return reflect.New(value.Type()).Interface() // "required" rejects a zero value that is not behind a pointer
	default:
		return value.Interface()
	}
}

// tagTexts are the texts of violations, by the struct tag. %s is the parameter of the tag.
var tagTexts = map[string]string{ //nolint:gochecknoglobals // never changed
	"required": "is required",
	"max":      "must be at most %s",
}

// tagText returns the text for a violation of a struct tag.
func tagText(violation validator.FieldError) string {
	text := strings.ReplaceAll(tagTexts[violation.Tag()], "%s", violation.Param())
	if violation.Param() != "" && violation.Kind() == reflect.String {
		text += " characters"
	}
	return text
}

// validate returns the Error for the violations that were recorded while p was decoded and
// for those of its struct tags, or nil if there are none. It lists the fields in alphabetical order,
// which is also the order of the schema.
func (d *Decoder) validate(p *NewPlant) error {
	// By value: given a pointer, reflect copies each field. For a struct there is no other error.
	violations, _ := errors.AsType[validator.ValidationErrors](d.validator.Struct(*p))
	for _, violation := range violations {
		p.addViolation(violation.Field(), tagText(violation))
	}
	if len(p.violations) == 0 {
		return nil
	}
	var texts []string
	for _, field := range slices.Sorted(maps.Keys(p.violations)) {
		texts = append(texts, field+": "+p.violations[field])
	}
	return NewError(CodeUnprocessable, strings.Join(texts, "; "))
}

// addViolation records a violation of a field, unless the field or the body has one already: a
// field of the wrong type, or of a body that is not an object, is not reported as missing, too.
func (p *NewPlant) addViolation(field, message string) {
	if p.violations[field] != "" || p.violations["body"] != "" {
		return
	}
	if p.violations == nil {
		p.violations = map[string]string{}
	}
	p.violations[field] = message
}
