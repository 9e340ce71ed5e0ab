package models_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"slices"
	"strconv"
	"testing"

	"plantstore/internal/must"
	"plantstore/models"
)

// TestCodesIsComplete parses the constants from the source, so that a code can't be
// added without a meaning.
func TestCodesIsComplete(t *testing.T) {
	t.Parallel()
	file := must.Get(parser.ParseFile(token.NewFileSet(), "error.go", nil, 0))(t)
	var declared []models.Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.INT {
			code := must.Get(strconv.Atoi(literal.Value))(t)
			declared = append(declared, models.Code(code))
		}
		return true
	})
	var listed []models.Code
	for _, row := range models.Codes() {
		listed = append(listed, row.Code)
		if row.Meaning == "" {
			t.Errorf("%d has no meaning", row.Code)
		}
	}
	if len(declared) == 0 || !slices.Equal(declared, listed) {
		t.Errorf("declared %v, listed %v", declared, listed)
	}
	if !slices.IsSorted(listed) {
		t.Errorf("not in ascending order: %v", listed)
	}
}

// TestWithCause checks that a cause is added to a copy, since an Error may be shared by requests, and is for the
// log: it is not in the message to the client.
func TestWithCause(t *testing.T) {
	t.Parallel()
	plain := models.NewError(models.CodeInternal, "it failed")
	caused := plain.WithCause(io.ErrShortWrite)
	if !errors.Is(caused, io.ErrShortWrite) || caused.Error() != "500: it failed: short write" || caused.Message != plain.Message || plain.Unwrap() != nil {
		t.Errorf("with a cause %v, without it %v", caused, plain)
	}
}

// TestServerFault checks which codes are the server's fault and deserve an operator's attention:
// an unknown method or version is not.
func TestServerFault(t *testing.T) {
	t.Parallel()
	var faults []models.Code
	for _, c := range models.Codes() {
		if c.Code.ServerFault() {
			faults = append(faults, c.Code)
		}
	}
	if want := []models.Code{500, 503, 507}; !slices.Equal(faults, want) {
		t.Errorf("the faults are %v, want %v", faults, want)
	}
}
