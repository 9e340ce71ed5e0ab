package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"plantstore/internal/must"
	"plantstore/models"
)

// TestLinksOfDocuments checks that links within the documents lead to existing files and
// headings.
func TestLinksOfDocuments(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, path := range filesOf(t, ".md") {
		for _, link := range linksOf(t, path) {
			checked++
			checkLink(t, path, link)
		}
	}
	if checked == 0 {
		t.Error("no links found")
	}
}

// linksOf returns the links of a Markdown text to files of the repository.
func linksOf(t *testing.T, path string) (links []string) {
	t.Helper()
	elsewhere := regexp.MustCompile(`^[a-z]+:`)
	for _, link := range regexp.MustCompile(`\]\(([^()\s]+)\)`).FindAllStringSubmatch(prose(t, path), -1) {
		if !elsewhere.MatchString(link[1]) {
			links = append(links, link[1])
		}
	}
	return links
}

// checkLink reports a broken link of the document at path.
func checkLink(t *testing.T, path, link string) {
	t.Helper()
	file, heading, _ := strings.Cut(link, "#")
	target := path
	if file != "" {
		target = filepath.Join(filepath.Dir(path), file)
	}
	if _, err := os.Stat(target); err != nil {
		t.Errorf("%s: the link %s leads nowhere: %v", path, link, err)
	} else if heading != "" && !anchors(t, target)[heading] {
		t.Errorf("%s: the link %s leads to no heading of %s", path, link, target)
	}
}

// TestPathsInGuides checks that the files and directories that the guides for contributors name exist.
func TestPathsInGuides(t *testing.T) {
	t.Parallel()
	files, checked := filesOf(t, ""), 0
	named := regexp.MustCompile("`((?:cluster|docs|e2e|internal|middleware|models|routes|storage)/[\\w./-]*|[\\w./-]+\\.(?:go|html|js|txtar))`")
	for _, guide := range []string{"CONTRIBUTING.md", "docs/architecture.md", "docs/copy-this.md"} {
		for _, name := range named.FindAllStringSubmatch(readFile(t, guide), -1) {
			checked++
			if !slices.ContainsFunc(files, func(path string) bool {
				return strings.Contains(filepath.ToSlash(path)+"/", "/"+strings.TrimSuffix(name[1], "/")+"/")
			}) {
				t.Errorf("%s names %s, which does not exist", guide, name[1])
			}
		}
	}
	if checked == 0 {
		t.Error("no paths found")
	}
}

// prose returns a Markdown text without its blocks of code.
func prose(t *testing.T, path string) string {
	t.Helper()
	text := must.Get(os.ReadFile(path))(t)
	return regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(string(text), "")
}

// anchors returns the anchors of a Markdown text: its headings as GitHub writes them in
// URLs, except for repeated headings.
func anchors(t *testing.T, path string) map[string]bool {
	t.Helper()
	found := make(map[string]bool)
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(prose(t, path), -1) {
		found[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, heading[1])] = true
	}
	return found
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

// TestGeneratedCodes checks that docs/errors.md has a row for each error code.
func TestGeneratedCodes(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("| `error` | Meaning |\n|---|---|\n")
	for _, row := range models.Codes() {
		fmt.Fprintf(&table, "| %d | %s |\n", row.Code, row.Meaning)
	}
	must.GeneratePart(t, filepath.Join(root, "docs/errors.md"), "codes", table.String())
}

// readFile returns the text of a file, by its path in the module.
func readFile(t *testing.T, path string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join(root, path)))(t))
}

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
