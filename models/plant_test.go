package models

import (
	"maps"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestWholePlant checks that Equal and Clone have all fields of a plant, also future ones: two
// plants that differ in any field are not equal, and a clone shares no memory that can change.
func TestWholePlant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		p, other := rapid.Make[Plant]().Draw(r, "plant"), rapid.Make[Plant]().Draw(r, "other plant")
		for i := range reflect.TypeFor[Plant]().NumField() {
			q := p.Clone()
			if !p.Equal(q) || !reflect.DeepEqual(p, q) {
				r.Fatalf("the clone of %+v is %+v", p, q)
			}
			field := reflect.ValueOf(&q).Elem().Field(i)
			if field.Kind() == reflect.Pointer && !field.IsNil() && field.Pointer() == reflect.ValueOf(p).Field(i).Pointer() {
				r.Fatalf("the clone shares field %d", i)
			}
			field.Set(reflect.ValueOf(other).Field(i))
			if p.Equal(q) != reflect.DeepEqual(p, q) {
				r.Fatalf("%+v and %+v are equal: %t", p, q, p.Equal(q))
			}
		}
	})
}

// TestAllFields checks that all fields of a plant, also future ones, are in the response, and that a
// body with them is decoded to the same plant.
func TestAllFields(t *testing.T) {
	t.Parallel()
	decoder := NewDecoder(1 << 20)
	rapid.Check(t, func(r *rapid.T) {
		p := rapid.Make[Plant]().Draw(r, "plant")
		want, err := json.Marshal(p)
		if err != nil {
			r.Fatal(err)
		}
		if got, err := p.AppendJSON(nil); err != nil || string(got) != string(want) {
			r.Fatalf("the response is %s, %v, want %s", got, err, want)
		}
		var decoded NewPlant
		if err := decoder.Decode([]byte(`{"id":1,`+string(want[1:])), &decoded); err != nil || !reflect.DeepEqual(decoded.Plant(), p) {
			r.Fatalf("%s is decoded as %+v, %v", want, decoded.Plant(), err)
		}
	})
}

// TestTextFields checks that the list has all texts of a plant, by their names in JSON, and which of
// them every plant has.
func TestTextFields(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		p := rapid.Make[Plant]().Draw(r, "plant")
		listed := map[string]any{}
		for _, field := range TextFields() {
			if text := field.Of(p); text != nil {
				listed[field.Name] = *text
			} else if field.Required {
				r.Fatalf("%+v has no %s", p, field.Name)
			}
		}
		encoded, _ := p.AppendJSON(nil)
		var texts map[string]any
		if err := json.Unmarshal(encoded, &texts); err != nil {
			r.Fatal(err)
		}
		maps.DeleteFunc(texts, func(_ string, value any) bool { _, isText := value.(string); return !isText })
		if diff := cmp.Diff(texts, listed); diff != "" {
			r.Fatalf("the fields of %s (-JSON +list):\n%s", encoded, diff)
		}
	})
}
