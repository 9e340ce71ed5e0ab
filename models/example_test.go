package models_test

import (
	"fmt"

	"plantstore/models"
)

func ExampleDecoder_Decode() {
	decoder := models.NewDecoder(1 << 20) // reused for all requests
	for _, body := range []string{
		`{"id": 1e2, "name": "Monstera", "tag": "climber"}`,
		`{"id": "7", "tag": null}`,
		`{"id": 7, "id": 8}`,
	} {
		var p models.NewPlant
		if err := decoder.Decode([]byte(body), &p); err != nil {
			fmt.Println(err)
			continue
		}
		plant := p.Plant()
		fmt.Println(p.ID.Value, plant.Name, *plant.Tag)
	}
	// Output:
	// 100 Monstera climber
	// 422: id: must be an integer, not a string; name: is required; tag: must be a string, not null
	// 400: id: appears more than once in its object
}
