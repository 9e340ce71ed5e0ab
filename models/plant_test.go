package models

import (
	"reflect"
	"testing"

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
