package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The limits for the size of the code, in lines.
const (
	maxFile     = 400 // each file
	maxFunction = 80  // each function
	mostlyUnder = 35  // nine of ten functions outside tests
	maxMedian   = 12  // functions outside tests
)

// A function is one declared function and its length in lines, from func to the
// closing brace.
type function struct {
	position token.Position
	name     string
	lines    int
}

// A source is one Go file.
type source struct {
	path      string
	lines     int
	functions []function
}

func TestShape(t *testing.T) {
	t.Parallel()
	var lengths []int
	for _, s := range sources(t) {
		if s.lines >= maxFile {
			t.Errorf("%s has %d lines, want less than %d", s.path, s.lines, maxFile)
		}
		for _, f := range s.functions {
			if f.lines > maxFunction {
				t.Errorf("%s: %s has %d lines, want at most %d", f.position, f.name, f.lines, maxFunction)
			}
			if !strings.HasSuffix(s.path, "_test.go") {
				lengths = append(lengths, f.lines)
			}
		}
	}
	slices.Sort(lengths)
	if median := lengths[len(lengths)/2]; median > maxMedian {
		t.Errorf("the median function has %d lines, want at most %d", median, maxMedian)
	}
	if long := lengths[len(lengths)*9/10]; long >= mostlyUnder {
		t.Errorf("one of ten functions has %d lines or more, want less than %d", long, mostlyUnder)
	}
}

// sources returns the Go files of both modules.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	for _, path := range filesOf(t, ".go") {
		all = append(all, parse(t, path))
	}
	return all
}

// filesOf returns the paths of the project's files with that suffix. There must be
// some.
func filesOf(t *testing.T, suffix string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && path != root):
			return fs.SkipDir
		case !entry.IsDir() && strings.HasSuffix(path, suffix):
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatalf("no files *%s found", suffix)
	}
	return paths
}

func parse(t *testing.T, path string) source {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	s := source{path: path, lines: files.File(file.FileStart).LineCount()}
	for _, declaration := range file.Decls {
		if f, ok := declaration.(*ast.FuncDecl); ok {
			start, end := files.Position(f.Pos()), files.Position(f.End())
			s.functions = append(s.functions, function{start, f.Name.Name, end.Line - start.Line + 1})
		}
	}
	return s
}
