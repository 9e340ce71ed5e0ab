package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
	"plantstore/models"
)

const (
	collectionFile  = "../docs/postman/plantstore.postman_collection.json"
	environmentFile = "../docs/postman/plantstore.postman_environment.json"
)

// unpostable returns the values of error that a client can provoke, but Postman cannot, with the
// reason.
func unpostable() map[models.Code]string {
	return map[models.Code]string{
		models.CodeForbidden:          "the server requires no scope unless JWT_SCOPE is set",
		models.CodeRequestTimeout:     "Postman sends a body at once",
		models.CodeTooManyRequests:    "the server has no rate limit unless RATE_LIMIT is set",
		models.CodeNotImplemented:     "Postman always sends a Content-Length",
		models.CodeVersionUnsupported: "Postman speaks HTTP/1.1",
	}
}

// An item is a request of the collection.
type item struct {
	Name    string
	Request struct {
		Method string
		URL    struct{ Raw string }
	}
}

// expects returns the value of error that the tests of the request expect, with which its name
// begins; 0 means none.
func (i item) expects() models.Code {
	number, _, _ := strings.Cut(i.Name, " ")
	code, _ := strconv.ParseInt(number, 10, 32) // the names of the others begin with a word
	return models.Code(code)
}

func readCollection(t *testing.T) []item {
	t.Helper()
	var collection struct {
		Item []struct{ Item []item }
	}
	readJSON(t, collectionFile, &collection)
	var all []item
	for _, folder := range collection.Item {
		all = append(all, folder.Item...)
	}
	return all
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	text := must.Get(os.ReadFile(path))(t)
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// TestPostmanCollection checks that the requests are the operations of the description, and
// provoke each error that Postman can provoke.
func TestPostmanCollection(t *testing.T) {
	t.Parallel()
	var described struct{ Paths map[string]map[string]any }
	must.Do(t, yaml.Unmarshal(printed(t, "yaml"), &described))
	var want, got []string
	for path, operations := range described.Paths {
		for method := range operations {
			want = append(want, strings.ToUpper(method)+" {{baseUrl}}"+path)
		}
	}
	provoked := map[models.Code]bool{}
	for _, i := range readCollection(t) {
		code := i.expects()
		provoked[code] = true
		if code != models.CodeNotFound && code != models.CodeMethodNotAllowed {
			got = append(got, i.Request.Method+" "+i.Request.URL.Raw)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
		t.Errorf("operations (-description +collection):\n%s", diff)
	}
	for _, c := range models.Codes() {
		reason := unprovoked()[c.Code] + unpostable()[c.Code]
		if provoked[c.Code] == (reason != "") {
			t.Errorf("error %d: provoked %v, reason why not: %q", c.Code, provoked[c.Code], reason)
		}
	}
	for _, path := range []string{collectionFile, environmentFile} {
		text, err := os.ReadFile(path)
		// Postman adds these when it exports.
		if found := regexp.MustCompile("_postman_id|_exporter_id|_collection_link|_postman_exported|eyJ").Find(text); err != nil || found != nil {
			t.Errorf("%s contains %s, %v", path, found, err)
		}
	}
}

// TestNewman runs the collection. Without a token the requests fail that are not refused before
// the token is checked: so the tests in the collection can fail.
func TestNewman(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{})
	if failed := newman(t, server, server.Token()); len(failed) > 0 {
		t.Errorf("failures: %v", failed)
	}
	failed := newman(t, server, "no.token.atall")
	for _, i := range readCollection(t) {
		if blind := slices.Contains([]models.Code{401, 404, 405, 417, 431}, i.expects()); failed[i.Name] == blind {
			t.Errorf("%s: failed without a token: %v", i.Name, failed[i.Name])
		}
	}
}

// newman runs the collection, all requests with at least three tests each, and returns the names
// of those that failed.
func newman(t *testing.T, server *plantstore.Server, token string) map[string]bool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.json")
	out, err := exec.CommandContext(t.Context(), tools.Require(t, "newman"), "run", collectionFile,
		"--environment", environmentFile, "--env-var", "baseUrl="+server.BaseURL, "--env-var", "token="+token,
		"--reporters", "cli,json", "--reporter-json-export", path, "--color", "off").CombinedOutput()
	var report struct {
		Run struct {
			Stats    struct{ Items, Assertions struct{ Total int } }
			Failures []struct{ Source struct{ Name string } }
		}
	}
	readJSON(t, path, &report)
	items, assertions := report.Run.Stats.Items.Total, report.Run.Stats.Assertions.Total
	if (err == nil) != (len(report.Run.Failures) == 0) || items != len(readCollection(t)) || assertions < 3*items {
		t.Errorf("newman: %v, %d failures, %d requests, %d tests\n%s", err, len(report.Run.Failures), items, assertions, out)
	}
	failed := map[string]bool{}
	for _, failure := range report.Run.Failures {
		failed[failure.Source.Name] = true
	}
	return failed
}
