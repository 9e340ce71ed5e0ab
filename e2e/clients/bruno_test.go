package clients

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"plantstore/internal/must"
)

const brunoDirectory = "../../docs/bruno"

// A brunoReport is the part of the report of Bruno's command line that the tests use.
type brunoReport []struct {
	Results []struct {
		Name        string
		TestResults []struct{ Description, Status, Error string }
	}
}

// runBruno runs a copy of the collection against the server.
func (w *fixture) runBruno(token string) brunoReport {
	w.t.Helper()
	directory := filepath.Join(w.dir, "bruno")
	must.Do(w.t, errors.Join(os.RemoveAll(directory), os.CopyFS(directory, os.DirFS(brunoDirectory))))
	// The report, not the exit code, shows whether all passed.
	w.run("sh", "-c", `cd bruno && node ../node_modules/@usebruno/cli/bin/bru.js run -r --env local \
		--env-var "baseUrl=$PLANTS_URL" --env-var "token=$1" --reporter-json ../report.json >&2 || true`, "sh", token)
	text := must.Get(os.ReadFile(filepath.Join(w.dir, "report.json")))(w.t)
	var report brunoReport
	if err := json.Unmarshal(text, &report); err != nil || len(report) != 1 {
		w.t.Fatalf("%v in %.300s", err, text)
	}
	return report
}

func TestBruno(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	requests := must.Get(filepath.Glob(brunoDirectory + "/*/*.bru"))(t)
	ran, failed := 0, 0
	for _, result := range w.runBruno(w.token)[0].Results {
		ran++
		if len(result.TestResults) < 3 {
			t.Errorf("%s: %d tests, want at least 3", result.Name, len(result.TestResults))
		}
		for _, test := range result.TestResults {
			if test.Status != "pass" {
				t.Errorf("%s: %s: %s", result.Name, test.Description, test.Error)
			}
		}
	}
	if want := len(requests) - 1; ran != want { // one of the files is the environment
		t.Errorf("%d requests ran, want %d", ran, want)
	}
	// The tests must be able to fail.
	for _, result := range w.runBruno("no.token.atall")[0].Results {
		for _, test := range result.TestResults {
			if test.Status != "pass" {
				failed++
				break
			}
		}
	}
	if failed < ran/2 {
		t.Errorf("without a token only %d of %d requests fail", failed, ran)
	}
}
