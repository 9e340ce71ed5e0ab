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

// A collection is the part of a Postman collection v2.1 that the tests use.
type collection struct {
	Items []folder `json:"item"`
}

type folder struct {
	Items []item `json:"item"`
}

type item struct {
	Name   string `json:"name"`
	Events []struct {
		Listen string `json:"listen"`
		Script struct {
			Exec []string `json:"exec"`
		} `json:"script"`
	} `json:"event"`
	Request struct {
		Method string `json:"method"`
		URL    struct {
			Raw string `json:"raw"`
		} `json:"url"`
	} `json:"request"`
}

// expectation returns the value of error that the tests of a request expect.
var expectation = regexp.MustCompile(`\.error\)\.to\.equal\((\d+)\)`)

// expects returns the value of error that the request must provoke; 0 means none.
func (i item) expects(t *testing.T) models.Code {
	t.Helper()
	var script strings.Builder
	for _, event := range i.Events {
		if event.Listen == "test" {
			script.WriteString(strings.Join(event.Script.Exec, "\n"))
		}
	}
	found := expectation.FindStringSubmatch(script.String())
	if found == nil {
		if !strings.Contains(script.String(), "have.status(200)") {
			t.Errorf("%s: its tests expect neither 200 nor an error", i.Name)
		}
		return 0
	}
	code, err := strconv.ParseInt(found[1], 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(i.Name, found[1]+" ") {
		t.Errorf("%s: its tests expect error %d", i.Name, code)
	}
	return models.Code(code)
}

func readCollection(t *testing.T) []item {
	t.Helper()
	var c collection
	readJSON(t, collectionFile, &c)
	var all []item
	for _, f := range c.Items {
		all = append(all, f.Items...)
	}
	return all
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// TestPostmanHasTheOperationsOfTheDescription checks that the requests of the folders are
// the operations of the description.
func TestPostmanHasTheOperationsOfTheDescription(t *testing.T) {
	t.Parallel()
	var described struct {
		Paths map[string]map[string]any `yaml:"paths"`
	}
	if err := yaml.Unmarshal(printed(t, "yaml"), &described); err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for path, operations := range described.Paths {
		for method := range operations {
			want = append(want, strings.ToUpper(method)+" {{baseUrl}}"+path)
		}
	}
	for _, i := range readCollection(t) {
		if code := i.expects(t); code != models.CodeNotFound && code != models.CodeMethodNotAllowed {
			got = append(got, i.Request.Method+" "+i.Request.URL.Raw)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
		t.Errorf("operations (-description +collection):\n%s", diff)
	}
}

func TestPostmanProvokesEachError(t *testing.T) {
	t.Parallel()
	provoked := map[models.Code]bool{}
	for _, i := range readCollection(t) {
		provoked[i.expects(t)] = true
	}
	for _, c := range models.Codes() {
		reason := unprovoked()[c.Code] + unpostable()[c.Code]
		if provoked[c.Code] == (reason != "") {
			t.Errorf("error %d: provoked %v, reason why not: %q", c.Code, provoked[c.Code], reason)
		}
	}
}

func TestPostmanHoldsNoSecretAndNoPerson(t *testing.T) {
	t.Parallel()
	var environment struct {
		Values []map[string]any `json:"values"`
	}
	readJSON(t, environmentFile, &environment)
	want := []map[string]any{
		{"key": "baseUrl", "value": "http://127.0.0.1:8080", "type": "default", "enabled": true},
		{"key": "token", "value": "", "type": "secret", "enabled": true},
	}
	if diff := cmp.Diff(want, environment.Values); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	for _, path := range []string{collectionFile, environmentFile} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// Postman adds these when it exports.
		for _, id := range []string{"_postman_id", "_exporter_id", "_collection_link", "_postman_exported", "eyJ"} {
			if strings.Contains(string(text), id) {
				t.Errorf("%s contains %s", path, id)
			}
		}
	}
}

func TestNewmanPasses(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{})
	report := newman(t, server, server.Token())
	if report.Run.Stats.Requests.Failed+report.Run.Stats.Assertions.Failed != 0 || len(report.Run.Failures) != 0 {
		t.Errorf("failures: %+v", report.Run.Failures)
	}
	if got, want := report.Run.Stats.Items.Total, len(readCollection(t)); got != want {
		t.Errorf("%d requests ran, want %d", got, want)
	}
	if got, least := report.Run.Stats.Assertions.Total, 3*report.Run.Stats.Items.Total; got < least {
		t.Errorf("only %d tests ran, want at least 3 for each request: %d", got, least)
	}
}

// TestNewmanFailsWithoutToken checks that the tests in the collection can fail.
func TestNewmanFailsWithoutToken(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{})
	report := newman(t, server, "no.token.atall")
	failed := map[string]bool{}
	for _, failure := range report.Run.Failures {
		failed[failure.Source.Name] = true
	}
	for _, i := range readCollection(t) {
		code := i.expects(t)
		blind := slices.Contains([]models.Code{401, 404, 405, 417, 431}, code) // refused before the token is checked
		if failed[i.Name] == blind {
			t.Errorf("%s: failed without a token: %v", i.Name, failed[i.Name])
		}
	}
}

// A newmanReport is the part of newman's JSON report that the tests use.
type newmanReport struct {
	Run struct {
		Stats struct {
			Items, Requests, Assertions struct{ Total, Failed int }
		} `json:"stats"`
		Failures []struct {
			Source struct {
				Name string `json:"name"`
			} `json:"source"`
			Error struct {
				Test    string `json:"test"`
				Message string `json:"message"`
			} `json:"error"`
		} `json:"failures"`
	} `json:"run"`
}

// newman runs the collection and returns its report. It checks that newman's exit code
// agrees with the report.
func newman(t *testing.T, server *plantstore.Server, token string) newmanReport {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.json")
	out, err := exec.CommandContext(t.Context(), tools.Require(t, "newman"), "run", collectionFile,
		"--environment", environmentFile, "--env-var", "baseUrl="+server.BaseURL, "--env-var", "token="+token,
		"--reporters", "cli,json", "--reporter-json-export", path, "--color", "off").CombinedOutput()
	var report newmanReport
	readJSON(t, path, &report)
	if (err == nil) != (len(report.Run.Failures) == 0) {
		t.Errorf("newman: %v, %d failures", err, len(report.Run.Failures))
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s", out)
		}
	})
	return report
}
