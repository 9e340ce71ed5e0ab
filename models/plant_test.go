package models

import (
	"testing"

	"github.com/go-json-experiment/json"
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
			got, err := json.Marshal(tt.plant)
			if err != nil {
				t.Fatal(err)
			}
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

func TestPlantEqual(t *testing.T) {
	t.Parallel()
	empty, a, alsoA, b := "", "a", "a", "b"
	plants := []Plant{
		{Name: "x"},
		{Name: "y"},
		{Name: "x", Tag: &empty},
		{Name: "x", Tag: &a},
		{Name: "x", Tag: &b},
	}
	for i, p := range plants {
		for j, q := range plants {
			if p.Equal(q) != (i == j) {
				t.Errorf("%d.Equal(%d) = %v", i, j, p.Equal(q))
			}
		}
	}
	if !(Plant{Name: "x", Tag: &a}).Equal(Plant{Name: "x", Tag: &alsoA}) {
		t.Error("tags are compared by address")
	}
}
