package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// TestBrunoFails checks that the collection for Bruno, which passes in TestDocument, can fail: without
// a token at least half of its requests do.
func TestBrunoFails(t *testing.T) {
	t.Parallel()
	server, dir := plantstore.Start(t, plantstore.Options{}), t.TempDir()
	must.Do(t, os.CopyFS(dir, os.DirFS("../../docs/bruno")))
	bru := exec.CommandContext(t.Context(), tools.Require(t, "bru"),
		"run", "-r", "--env", "local", "--env-var", "baseUrl="+server.BaseURL, "--env-var", "token=no.token.atall")
	bru.Dir = dir
	out, err := bru.CombinedOutput()
	count := regexp.MustCompile(`Requests .* (\d+) \(\d+ Passed, (\d+) Failed\)`).FindSubmatch(out)
	if err == nil || count == nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ran, failed := must.Get(strconv.Atoi(string(count[1])))(t), must.Get(strconv.Atoi(string(count[2])))(t)
	requests := must.Get(filepath.Glob(dir + "/*/*.bru"))(t)
	if ran != len(requests)-1 || failed < ran/2 { // one of the files is the environment
		t.Errorf("%d of %d requests fail, and there are %d files", failed, ran, len(requests))
	}
}
