package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"plantstore/internal/must"
)

// TestMessagesOfTroubleshooting checks that the code has each message in docs/troubleshooting.md, in
// which … stands for any text.
func TestMessagesOfTroubleshooting(t *testing.T) {
	t.Parallel()
	literals := stringsOf(t)
	messages := regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(readFile(t, "docs/troubleshooting.md"), -1)
	if len(messages) < 20 {
		t.Errorf("the document has %d messages, want at least 20", len(messages))
	}
	for _, message := range messages {
		for part := range strings.SplitSeq(message[1], "…") {
			if part = strings.Trim(part, " :"); !strings.Contains(literals, part) {
				t.Errorf("no message of the code has %q", part)
			}
		}
	}
}

// stringsOf returns all strings in the code of the program, with a line for each. A concatenation is
// one string.
func stringsOf(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, path := range filesOf(t, ".go") {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(filepath.ToSlash(path), "/e2e/") {
			continue
		}
		file := must.Get(parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution))(t)
		ast.Inspect(file, func(n ast.Node) bool {
			text, complete := folded(n)
			if complete {
				all.WriteString(text + "\n")
			}
			return !complete
		})
	}
	return all.String()
}

// folded returns the value of a string or of a concatenation of strings.
func folded(n ast.Node) (text string, complete bool) {
	switch n := n.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(n.Value)
		return text, n.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		left, leftOK := folded(n.X)
		right, rightOK := folded(n.Y)
		return left + right, n.Op == token.ADD && leftOK && rightOK
	}
	return "", false
}
