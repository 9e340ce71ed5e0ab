package models

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"
)

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
