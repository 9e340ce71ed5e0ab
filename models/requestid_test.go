package models_test

import (
	"testing"

	"plantstore/models"
)

func TestHoldsToken(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"":                         false,
		"/plants":                  false,
		"eyJ":                      false,
		"eyJh.eyJz":                false,
		"a.b.c":                    false,
		"eyJh.eyJz.c2ln":           true,
		"/plants/eyJh.eyJz.c2ln/x": true,
		"eyJh..":                   true, // an algorithm that signs nothing
	} {
		if got := models.HoldsToken(text); got != want {
			t.Errorf("HoldsToken(%q) is %t", text, got)
		}
	}
	if id := "eyJh.eyJz.c2ln"; models.SaneRequestID(id) {
		t.Errorf("%s may be logged as a request id", id)
	}
}
