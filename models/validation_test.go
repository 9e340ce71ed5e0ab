package models

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/go-playground/validator/v10"
)

// TestTagTexts checks that each rule in the struct tags of a NewPlant has a text.
func TestTagTexts(t *testing.T) {
	t.Parallel()
	for field := range reflect.TypeFor[NewPlant]().Fields() {
		for rule := range strings.SplitSeq(field.Tag.Get("validate"), ",") {
			tag, _, _ := strings.Cut(rule, "=")
			if tag != "" && tag != "omitempty" && tagTexts[tag] == "" {
				t.Errorf("%s: the rule %s has no text: add it to tagTexts in validation.go", field.Name, rule)
			}
		}
	}
}

// TestRules checks that rules in struct tags apply to the value of a Field, and not to an absent
// one, and that each has its own text.
func TestRules(t *testing.T) {
	t.Parallel()
	type plant struct {
		ID   Field[int64]  `json:"id"   validate:"required,max=9"`
		Name Field[string] `json:"name" validate:"required,max=3"`
		Tag  Field[string] `json:"tag"  validate:"omitempty,max=3"`
	}
	v := newValidator()
	for _, tt := range []struct {
		plant plant
		want  string
	}{
		{plant{}, "id: is required; name: is required"},
		{plant{ID: Field[int64]{0, true}, Name: Field[string]{"", true}, Tag: Field[string]{"", true}}, ""},
		{plant{ID: Field[int64]{9, true}, Name: Field[string]{"äöü", true}, Tag: Field[string]{"abc", true}}, ""},
		{
			plant{ID: Field[int64]{10, true}, Name: Field[string]{"fern", true}, Tag: Field[string]{"abcd", true}},
			"id: must be at most 9; name: must be at most 3 characters; tag: must be at most 3 characters",
		},
	} {
		var got []string
		violations, _ := errors.AsType[validator.ValidationErrors](v.Struct(tt.plant))
		for _, violation := range violations {
			got = append(got, violation.Field()+": "+tagText(violation))
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.plant, got, tt.want)
		}
	}
}
