package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/document"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// TestLibrary follows docs/go.md in a new module outside of the repository, with and without build tags:
// its program and its test compile beside an import of each public package, and the test passes.
func TestLibrary(t *testing.T) {
	t.Parallel()
	text := string(tools.ProjectFile(t, "docs/go.md"))
	sources, commands := document.Blocks(text, "go"), document.Blocks(text, "sh")
	if len(sources) != 2 || len(commands) == 0 {
		t.Fatalf("the document has %d sources, and the commands %q", len(sources), commands)
	}
	dir := t.TempDir()
	run := func(script string) string {
		bash := exec.CommandContext(t.Context(), "bash", "-ec", script)
		bash.Dir = dir
		out, err := bash.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return string(out)
	}
	imports := "package main\n\n"
	for path := range strings.FieldsSeq(run("cd '" + tools.Project(t) + "' && go list -f '{{if ne .Name `main`}}{{.ImportPath}}{{end}}' ./...")) {
		if !strings.Contains(path, "/internal/") {
			imports += fmt.Sprintf("import _ %q\n", path)
		}
	}
	for name, text := range map[string]string{"main.go": sources[0], "main_test.go": sources[1], "imports_test.go": imports} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	run(strings.ReplaceAll(commands[0], "../plantstore", tools.Project(t)) + "go mod tidy")
	for _, flags := range []string{"", "-tags=" + strings.TrimSpace(string(tools.ProjectFile(t, ".ci/tags")))} {
		run("go build -o plants " + flags + " . && go test " + flags + " .")
	}
}
