package models

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"slices"
	"strconv"
	"testing"

	"github.com/go-json-experiment/json"

	"plantstore/internal/must"
)

// TestCodesIsComplete parses the constants from the source, so that a code can't be
// added without a meaning.
func TestCodesIsComplete(t *testing.T) {
	t.Parallel()
	file := must.Get(parser.ParseFile(token.NewFileSet(), "error.go", nil, 0))(t)
	var declared []Code
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
			code := must.Get(strconv.Atoi(literal.Value))(t)
			declared = append(declared, Code(code))
		}
		return true
	})
	var listed []Code
	for _, row := range Codes() {
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

func TestErrorOnTheWire(t *testing.T) {
	t.Parallel()
	sent := Errorf(CodeConflict, "id: %d is <taken> & %q", 7, "x").WithCause(errors.New("/data/plants.db: secret"))
	got := must.Get(json.Marshal(sent))(t)
	want := `{"error":409,"message":"id: 7 is <taken> & \"x\""}`
	if string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestErrorCause(t *testing.T) {
	t.Parallel()
	plain := NewError(CodeInternal, "it failed")
	caused := plain.WithCause(io.ErrShortWrite)
	if !errors.Is(caused, io.ErrShortWrite) {
		t.Error("the cause is not found")
	}
	if plain.Unwrap() != nil {
		t.Error("WithCause changed the original")
	}
	for failure, want := range map[*Error]string{
		plain:  "500: it failed",
		caused: "500: it failed: short write",
	} {
		if got := failure.Error(); got != want {
			t.Errorf("Error() = %q, want %q", got, want)
		}
	}
}

// TestServerFault checks which codes are the server's fault and deserve an operator's attention:
// an unknown method or version is not.
func TestServerFault(t *testing.T) {
	t.Parallel()
	var faults []Code
	for _, c := range Codes() {
		if c.Code.ServerFault() {
			faults = append(faults, c.Code)
		}
	}
	if want := []Code{500, 503, 507}; !slices.Equal(faults, want) {
		t.Errorf("the faults are %v, want %v", faults, want)
	}
}
