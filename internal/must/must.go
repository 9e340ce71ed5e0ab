// Package must checks what most tests need.
package must

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

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

var update = flag.Bool("update", false, "rewrite the generated files that the tests check") //nolint:gochecknoglobals // as a flag is

// Generate checks that a generated file of the repository is current, or writes it, as make generate does.
func Generate(t testing.TB, path, want string) {
	t.Helper()
	if *update {
		Do(t, os.WriteFile(path, []byte(want), 0o600))
		return
	}
	if diff := cmp.Diff(want, string(Get(os.ReadFile(path))(t))); diff != "" {
		t.Errorf("%s is not current; make generate rewrites it (-want +got):\n%.2000s", path, diff)
	}
}

// GeneratePart is [Generate] for the text between the comments NAME:begin and NAME:end of a document.
func GeneratePart(t testing.TB, path, name, want string) {
	t.Helper()
	begin, end := "<!-- "+name+":begin -->\n", "<!-- "+name+":end -->"
	before, rest, found := strings.Cut(string(Get(os.ReadFile(path))(t)), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s lacks the lines %s%s", path, begin, end)
	}
	Generate(t, path, before+begin+want+end+after)
}
