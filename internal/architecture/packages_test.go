package architecture

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
			if !dependency.Indirect && filepath.Base(dependency.Path) != "plantstore" && !slices.Contains(want, dependency.Path) {
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

// TestPublicSignatures checks that other modules can use all that they see of the public packages:
// no exported signature, field or method of an interface has a type of an internal package.
func TestPublicSignatures(t *testing.T) {
	t.Parallel()
	for dir := range strings.FieldsSeq(runGo(t, ".", "list", "-f", "{{if ne .Name `main`}}{{.Dir}}{{end}}", "./...")) {
		if strings.Contains(filepath.ToSlash(dir), "/internal/") {
			continue
		}
		seen := 0
		for _, name := range must.Get(filepath.Glob(filepath.Join(dir, "*.go")))(t) {
			if !strings.HasSuffix(name, "_test.go") {
				seen += checkSignatures(t, name)
			}
		}
		if seen == 0 {
			t.Errorf("%s exports nothing", dir)
		}
	}
}

// checkSignatures reports types of internal packages in what a file exports, and returns the number
// of its exported declarations.
func checkSignatures(t *testing.T, path string) (exported int) {
	t.Helper()
	file := must.Get(parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution))(t)
	internal := internalImports(file)
	ast.FileExports(file)
	for _, declared := range file.Decls {
		if function, ok := declared.(*ast.FuncDecl); ok {
			if !exportedReceiver(function) {
				continue
			}
			function.Body = nil
		}
		exported++
		ast.Inspect(declared, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok {
				if from, ok := selector.X.(*ast.Ident); ok && internal[from.Name] {
					t.Errorf("%s exports a declaration with %s.%s, which other modules cannot name", path, from.Name, selector.Sel.Name)
				}
			}
			return true
		})
	}
	return exported
}

// internalImports returns the names of the internal packages that a file imports.
func internalImports(file *ast.File) map[string]bool {
	internal := make(map[string]bool)
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
		name := filepath.Base(path)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		internal[name] = strings.Contains(path, "/internal/")
	}
	return internal
}

// exportedReceiver reports whether a function has no receiver, or one of an exported type.
func exportedReceiver(function *ast.FuncDecl) bool {
	if function.Recv == nil {
		return true
	}
	exported := false
	ast.Inspect(function.Recv.List[0].Type, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			exported = exported || name.IsExported()
		}
		return true
	})
	return exported
}
