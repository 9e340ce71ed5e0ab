package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"plantstore/internal/must"
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
