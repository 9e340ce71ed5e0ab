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
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(collectionFile))(t), &collection))
	var all []item
	for _, folder := range collection.Item {
		all = append(all, folder.Item...)
	}
	return all
}

// TestPostmanCollection checks that the requests are the operations of the description, and
// provoke each error that Postman can provoke.
func TestPostmanCollection(t *testing.T) {
	t.Parallel()
	var described struct{ Paths map[string]map[string]any }
	must.Do(t, yaml.Unmarshal([]byte(printed(t, "yaml")), &described))
	want, got := map[string]bool{}, map[string]bool{}
	for path, operations := range described.Paths {
		for method := range operations {
			want[strings.ToUpper(method)+" {{baseUrl}}"+path] = true
		}
	}
	provoked := map[models.Code]bool{}
	for _, i := range readCollection(t) {
		code := i.expects()
		provoked[code] = true
		if code != models.CodeNotFound && code != models.CodeMethodNotAllowed {
			got[i.Request.Method+" "+i.Request.URL.Raw] = true
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-description +collection):\n%s", diff)
	}
	for _, c := range models.Codes() {
		reason := unprovoked()[c.Code] + unpostable()[c.Code]
		if provoked[c.Code] == (reason != "") {
			t.Errorf("error %d: provoked %v, reason why not: %q", c.Code, provoked[c.Code], reason)
		}
	}
	for _, path := range []string{collectionFile, environmentFile} {
		// Postman adds these when it exports.
		added := regexp.MustCompile("_postman_id|_exporter_id|_collection_link|_postman_exported|eyJ")
		if found := added.Find(must.Get(os.ReadFile(path))(t)); found != nil {
			t.Errorf("%s contains %s", path, found)
		}
	}
}

// TestNewman runs the collection, all requests with at least three tests each: first with a token, then
// without. Then the requests fail that are not refused before the token is checked: so the tests in the
// collection can fail.
func TestNewman(t *testing.T) {
	t.Parallel()
	server, dir, items := plantstore.Start(t, plantstore.Options{}), t.TempDir(), readCollection(t)
	data, path := filepath.Join(dir, "data.json"), filepath.Join(dir, "report.json")
	tokens := must.Get(json.Marshal([]map[string]string{{"token": server.Token()}, {"token": "no.token.atall"}}))(t)
	must.Do(t, os.WriteFile(data, tokens, 0o600))
	out, _ := exec.CommandContext(t.Context(), tools.Require(t, "newman"), "run", collectionFile,
		"--environment", environmentFile, "--env-var", "baseUrl="+server.BaseURL, "--iteration-data", data,
		"--reporters", "cli,json", "--reporter-json-export", path, "--color", "off").CombinedOutput() // it exits with 1
	var report struct {
		Run struct {
			Stats    struct{ Items, Assertions struct{ Total int } }
			Failures []struct {
				Source struct{ Name string }
				Cursor struct{ Iteration int }
			}
		}
	}
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(path))(t), &report))
	if stats := report.Run.Stats; stats.Items.Total != 2*len(items) || stats.Assertions.Total < 3*stats.Items.Total {
		t.Errorf("newman has sent %d requests, with %d tests\n%s", stats.Items.Total, stats.Assertions.Total, out)
	}
	failed := map[string]bool{}
	for _, failure := range report.Run.Failures {
		failed[failure.Source.Name] = true
		if failure.Cursor.Iteration == 0 {
			t.Errorf("%s failed\n%s", failure.Source.Name, out)
		}
	}
	for _, i := range items {
		if blind := slices.Contains([]models.Code{401, 404, 405, 417, 431}, i.expects()); failed[i.Name] == blind {
			t.Errorf("%s: failed without a token: %v", i.Name, failed[i.Name])
		}
	}
}
