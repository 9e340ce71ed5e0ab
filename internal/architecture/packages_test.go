package architecture

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/models"
)

var update = flag.Bool("update", false, "rewrite the generated parts of docs/errors.md and docs/architecture.md")

// TestGeneratedPicture checks that the picture in docs/architecture.md shows the imports of today.
func TestGeneratedPicture(t *testing.T) {
	t.Parallel()
	checkPart(t, "docs/architecture.md", "picture", "\n```mermaid\n"+picture(imports(t, "-deps", "."))+"```\n\n")
}

// TestGeneratedCodes checks that docs/errors.md has a row for each error code.
func TestGeneratedCodes(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	table.WriteString("| `error` | Meaning |\n|---|---|\n")
	for _, row := range models.Codes() {
		fmt.Fprintf(&table, "| %d | %s |\n", row.Code, row.Meaning)
	}
	checkPart(t, "docs/errors.md", "codes", table.String())
}

// TestPackagesAreDocumented checks that the table of packages in docs/architecture.md has a row
// for each package, in its own directory or as part of its parent's row, and no other row.
func TestPackagesAreDocumented(t *testing.T) {
	t.Parallel()
	text := readFile(t, "docs/architecture.md")
	_, table, _ := strings.Cut(text, "\n| Package | Contents |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := make(map[string]string) // contents by directory
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)/` \\| (.+) \\|$").FindAllStringSubmatch(table, -1) {
		rows[row[1]] = row[2]
	}
	packages := imports(t, "./...")
	for line := range strings.Lines(runGo(t, "cluster", "list", "./...")) {
		packages[strings.TrimPrefix(strings.TrimSpace(line), "plantstore/")] = []string{}
	}
	for path := range packages {
		parent, name := filepath.Split(path)
		if rows[path] == "" && !strings.Contains(rows[strings.TrimSuffix(parent, "/")], "`"+name+"/`") && path != "plantstore" {
			t.Errorf("the table of packages in docs/architecture.md lacks %s/", path)
		}
	}
	for path := range rows {
		if packages[path] == nil && path != "e2e" { // a separate module
			t.Errorf("the table of packages in docs/architecture.md has %s/, which is not a package", path)
		}
	}
}

// imports returns the packages of this module that match the arguments of go list, by
// their paths in the module, each with the packages of this module that it imports.
func imports(t *testing.T, args ...string) map[string][]string {
	t.Helper()
	list := []string{"list", "-tags", releaseTags(t), "-f", `{{.ImportPath}} {{join .Imports " "}}`}
	all := make(map[string][]string)
	for line := range strings.Lines(runGo(t, ".", append(list, args...)...)) {
		paths := strings.Fields(line)
		ours := slices.DeleteFunc(paths[1:], func(path string) bool { return !strings.HasPrefix(path, "plantstore/") })
		for i, path := range ours {
			ours[i] = strings.TrimPrefix(path, "plantstore/")
		}
		if paths[0] == "plantstore" || strings.HasPrefix(paths[0], "plantstore/") {
			all[strings.TrimPrefix(paths[0], "plantstore/")] = ours
		}
	}
	return all
}

// picture returns packages and their imports as a Mermaid flowchart. It leaves out an
// import of a package that is also imported indirectly.
func picture(packages map[string][]string) string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for _, path := range slices.Sorted(maps.Keys(packages)) {
		direct := slices.DeleteFunc(slices.Clone(packages[path]), func(imported string) bool {
			return slices.ContainsFunc(packages[path], func(other string) bool { return reaches(packages, other, imported) })
		})
		if len(direct) > 0 {
			fmt.Fprintf(&b, "    %s --> %s\n", path, strings.Join(direct, " & "))
		}
	}
	return b.String()
}

// reaches reports whether a package imports another, directly or not.
func reaches(packages map[string][]string, from, to string) bool {
	return slices.ContainsFunc(packages[from], func(imported string) bool {
		return imported == to || reaches(packages, imported, to)
	})
}

// checkPart compares the part of a document between two markers with its expected
// contents, or writes it.
func checkPart(t *testing.T, document, marker, want string) {
	t.Helper()
	begin, end := "<!-- "+marker+":begin -->\n", "<!-- "+marker+":end -->"
	before, rest, found := strings.Cut(readFile(t, document), begin)
	got, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no lines %s and %s", document, begin, end)
	}
	if *update {
		if err := os.WriteFile(filepath.Join(root, document), []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s is out of date; run make generate (-want +got):\n%s", document, diff)
	}
}

// readFile returns the text of a file, by its path in the module.
func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
