package architecture

import (
	"encoding/json"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/must"
)

// root is the directory of the project, relative to this package.
const root = "../.."

// programs are the directories of the modules that are programs, relative to root.
var programs = []string{".", "cluster"}

// TestBinaryLinksNoTestPackage checks that packages that only tests need are not linked into
// the binaries.
func TestBinaryLinksNoTestPackage(t *testing.T) {
	t.Parallel()
	forTests := []string{
		"testing",
		"net/http/httptest",
		"go.uber.org/goleak",
		"github.com/rogpeppe/go-internal",
		"pgregory.net/rapid",
		"github.com/google/go-cmp",
		"github.com/stretchr/testify",
		"plantstore/storage/storagetest",
		"plantstore/internal/must",
		"plantstore/internal/watchdog",
	}
	for _, module := range programs {
		linked := strings.Fields(runGo(t, module, "list", "-deps", "-tags", strings.TrimSpace(readFile(t, ".ci/tags")), "."))
		if !slices.Contains(linked, "plantstore/internal/cli") {
			t.Fatalf("this is not the list of linked packages: %q", linked)
		}
		for _, name := range linked {
			for _, forTest := range forTests {
				if name == forTest || strings.HasPrefix(name, forTest+"/") {
					t.Errorf("the binary of module %s links %s", module, name)
				}
			}
		}
	}
}

// TestDependenciesAreDocumented checks that the document of the dependencies has a row for each
// direct dependency of a program, and no other.
func TestDependenciesAreDocumented(t *testing.T) {
	t.Parallel()
	var want []string
	for _, program := range programs {
		var module struct {
			Require []struct {
				Path     string
				Indirect bool
			}
		}
		must.Do(t, json.Unmarshal([]byte(runGo(t, program, "mod", "edit", "-json")), &module))
		for _, dependency := range module.Require {
			if !dependency.Indirect && path.Base(dependency.Path) != "plantstore" && !slices.Contains(want, dependency.Path) {
				want = append(want, dependency.Path)
			}
		}
	}
	var got []string
	// Other tables in it have rows without a dot.
	for _, row := range regexp.MustCompile("(?m)^\\| `([^` ]+\\.[^` ]+)` \\|").FindAllStringSubmatch(readFile(t, "docs/dependencies.md"), -1) {
		got = append(got, row[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows of docs/dependencies.md (-go.mod +document):\n%s", diff)
	}
}

// runGo returns the output of a go command in a directory of the project.
func runGo(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = filepath.Join(root, dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	return string(out)
}
