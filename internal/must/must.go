// Package must checks what most tests need.
package must

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"plantstore/models"
)

// Do ends the test on an error.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get ends the test on an error, and returns the value otherwise: must.Get(os.Open(path))(t).
func Get[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return value
	}
}

// Refuse checks that a response is an Error (C1.3) with a code and a message that contains text, and no token
// (C4.25).
func Refuse(t testing.TB, w *httptest.ResponseRecorder, code models.Code, text string) {
	t.Helper()
	var got models.Error
	err := json.Unmarshal(w.Body.Bytes(), &got, json.RejectUnknownMembers(true))
	if err != nil || w.Code != http.StatusBadRequest || w.Header().Get("Content-Type") != "application/json" ||
		got.Code != code || !strings.Contains(got.Message, text) || !strings.HasSuffix(w.Body.String(), "}\n") || strings.Contains(got.Message, "eyJ") {
		t.Errorf("got %d %v %s, %v, want 400 with error %d and %q", w.Code, w.Header(), w.Body, err, code, text)
	}
}
