package apidocs_test

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/must"
	"plantstore/models"
)

// A schema is the part of a schema of the description that is compared with the code.
type schema struct {
	Required   []string       `json:"required"`
	Properties map[string]any `json:"properties"`
}

// fieldsOf returns the JSON names of the fields of a type, and of those that are always there.
func fieldsOf(t reflect.Type) (all, required []string) {
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			continue // not exported
		}
		all = append(all, name)
		if slices.Contains(strings.Split(field.Tag.Get("validate"), ","), "required") || t == reflect.TypeFor[models.Plant]() && options == "" {
			required = append(required, name)
		}
	}
	slices.Sort(all)
	slices.Sort(required)
	return all, required
}

// TestFieldsOfPlants checks that the description and the collection for Postman have the fields of the
// structs.
func TestFieldsOfPlants(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("openapi.json"))(t)
	var description struct {
		Components struct {
			Schemas struct {
				Plant    schema
				NewPlant struct {
					AllOf []schema `json:"allOf"`
				}
			}
		}
	}
	must.Do(t, json.Unmarshal(text, &description))
	schemas := description.Components.Schemas
	created := schema{slices.Clone(schemas.Plant.Required), maps.Clone(schemas.Plant.Properties)}
	for _, part := range schemas.NewPlant.AllOf {
		created.Required = append(created.Required, part.Required...)
		maps.Copy(created.Properties, part.Properties)
	}
	for goType, s := range map[reflect.Type]schema{reflect.TypeFor[models.Plant](): schemas.Plant, reflect.TypeFor[models.NewPlant](): created} {
		all, required := fieldsOf(goType)
		if diff := cmp.Diff(all, slices.Sorted(maps.Keys(s.Properties))); diff != "" {
			t.Errorf("the properties of %s (-code +description):\n%s", goType.Name(), diff)
		}
		if diff := cmp.Diff(required, slices.Sorted(slices.Values(s.Required))); diff != "" {
			t.Errorf("the required properties of %s (-code +description):\n%s", goType.Name(), diff)
		}
	}
	collection := must.Get(os.ReadFile("../../docs/postman/plantstore.postman_collection.json"))(t)
	all, _ := fieldsOf(reflect.TypeFor[models.NewPlant]())
	for _, name := range all {
		if !strings.Contains(string(collection), `\"`+name+`\":`) {
			t.Errorf("no request in the collection has the property %s", name)
		}
	}
}
