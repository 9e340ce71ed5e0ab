package models

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"plantstore/internal/must"
)

func TestPlantOnTheWire(t *testing.T) {
	t.Parallel()
	empty, tag := "", "<b>&</b>"
	tests := map[string]struct {
		plant Plant
		want  string
	}{
		"no tag":        {Plant{Name: "fern"}, `{"name":"fern"}`},
		"empty tag":     {Plant{Name: "", Tag: &empty}, `{"name":"","tag":""}`},
		"not escaped":   {Plant{Name: "a\u2028b", Tag: &tag}, "{\"name\":\"a\u2028b\",\"tag\":\"<b>&</b>\"}"},
		"must escape":   {Plant{Name: "\x00\"\\\n"}, `{"name":"\u0000\"\\\n"}`},
		"beyond U+FFFF": {Plant{Name: "🌱"}, `{"name":"🌱"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := must.Get(json.Marshal(tt.plant))(t)
			if string(got) != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if fields, err := tt.plant.AppendFields([]byte("{")); err != nil || string(fields)+"}" != tt.want {
				t.Errorf("AppendFields: %s, %v", fields, err)
			}
			var back Plant
			if err := json.Unmarshal(got, &back); err != nil || !back.Equal(tt.plant) {
				t.Errorf("read back as %v, %v", back, err)
			}
		})
	}
}

func TestAppendFieldsRejectsInvalidUTF8(t *testing.T) {
	t.Parallel()
	bad := "a\xffb"
	for _, plant := range []Plant{{Name: bad}, {Tag: &bad}} {
		if fields, err := plant.AppendFields(nil); err == nil {
			t.Errorf("AppendFields: %q, want an error", fields)
		}
	}
}

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
