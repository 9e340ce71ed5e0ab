package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"plantstore/internal/must"
)

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
