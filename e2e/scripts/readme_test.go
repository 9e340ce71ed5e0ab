package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/document"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// The addresses in the texts: documented, and ephemeral for a server that deletes its plants.
// The tests have one server for both.
const (
	documented = "127.0.0.1:8080"
	ephemeral  = "127.0.0.1:8090"
)

// TestConsoleBlocks checks that every command in a console block of the README prints the output shown: all of
// them, one after the other in one shell, against a fresh server. The commands are unchanged,
// except for the address.
func TestConsoleBlocks(t *testing.T) {
	t.Parallel()
	tools.Require(t, "curl")
	var steps []document.Step
	for _, block := range document.Blocks(string(tools.ProjectFile(t, "README.md")), "console") {
		steps = append(steps, document.Console(block)...)
	}
	if len(steps) < 4 {
		t.Fatalf("the text has only the commands %q", steps)
	}
	server := plantstore.Start(t, plantstore.Options{})
	address := strings.TrimPrefix(server.BaseURL, "http://")
	program := plantstore.Command(t, "", nil)
	must.Do(t, os.Symlink(program.Path, filepath.Join(server.Dir, "plantstore")))
	document.Run(t, server.Dir, program.Env, strings.NewReplacer(documented, address, ephemeral, address), steps)
	checkIgnored(t, server.Dir)
}

// TestFirstCommand builds the program with the first command of the README.
func TestFirstCommand(t *testing.T) {
	t.Parallel()
	command := document.Blocks(string(tools.ProjectFile(t, "README.md")), "sh")[0]
	build, serve, _ := strings.Cut(command, " && ")
	if serve != "./plantstore serve\n" {
		t.Errorf("the first command is %s", command)
	}
	script := strings.Replace(build, "go build", `go build -o "$0"`, 1) + ` && "$0" version`
	bash := exec.CommandContext(t.Context(), tools.Require(t, "bash"), "-c", script, filepath.Join(t.TempDir(), "plantstore"))
	bash.Dir = tools.Project(t)
	if out, err := bash.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "plantstore ") {
		t.Errorf("%s: %v\n%s", build, err, out)
	}
}

// checkIgnored checks that, if the directory dir were a clone, git and a build of the image
// would ignore the files that the examples of the README have created in it.
func checkIgnored(t *testing.T, dir string) {
	t.Helper()
	left := must.Get(os.ReadDir(dir))(t)
	for _, entry := range left {
		line := "\n/" + entry.Name() + "\n"
		if entry.IsDir() {
			line = "\n/" + entry.Name() + "/*\n"
		}
		for _, name := range []string{".gitignore", ".dockerignore"} {
			if !strings.Contains(string(tools.ProjectFile(t, name)), line) {
				t.Errorf("%s does not have %s", name, entry.Name())
			}
		}
	}
	if len(left) < 4 { // the program, the data, an export and a backup
		t.Errorf("the examples have created only %v", left)
	}
}
