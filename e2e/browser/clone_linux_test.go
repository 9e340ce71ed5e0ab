package browser

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
)

// TestCloneOnWindows checks that a clone made with the default settings of Git for Windows has no CR, that its
// scripts and build tags work, and that the docs page of the program built from it creates a plant.
func TestCloneOnWindows(t *testing.T) {
	project := tools.Project(t)
	if _, err := os.Stat(filepath.Join(project, ".git")); err != nil {
		tools.NotChecked(t, "the project is not a clone")
	}
	clone, binary := filepath.Join(t.TempDir(), "clone"), filepath.Join(t.TempDir(), "plantstore")
	process.Run(t, "git", "clone", "--quiet", "--config=core.autocrlf=true", "file://"+project, clone)
	endings := process.Run(t, "git", "-C", clone, "ls-files", "--eol")
	if found := regexp.MustCompile(`(?m)^i/\S+ +w/(crlf|mixed) .*$`).FindString(endings); found != "" {
		t.Errorf("a file has CR: %s", found)
	}
	process.Run(t, filepath.Join(clone, ".ci", "licences"), ".")
	// With -trimpath, the packages are those of the program of the other tests, in the build cache.
	process.Run(t, "bash", "-c", `cd "$0" && go build -tags "$(cat .ci/tags)" -trimpath -ldflags '-s -w' -o "$1" .`, clone, binary)

	server := plantstore.Start(t, plantstore.Options{Binary: binary})
	tb := openDocs(t, server.BaseURL, desktop())
	token := server.Token()
	tb.paste(tokenField, token)
	tb.showOperation()
	tb.press("Test Request")
	tb.press("Send")
	tb.await("200 OK")
	tb.checkQuiet()
}
