package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThreatsAreTested checks that every row of the threat model links to tests that exist, or
// has "none".
func TestThreatsAreTested(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Threats\n")
	section, _, found := strings.Cut(section, "\n## ")
	if !found {
		t.Fatal("SECURITY.md has no section Threats")
	}
	link := regexp.MustCompile(`\[(\w+)\]\(([^)]+)\)`)
	rows := 0
	for row := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(row), "|"), " | ")
		if len(cells) != 4 || strings.Contains(cells[0], "---") || strings.TrimSpace(cells[0]) == "Who" {
			continue
		}
		rows++
		tests := link.FindAllStringSubmatch(cells[3], -1)
		if tests == nil && strings.TrimSpace(cells[3]) != "none" {
			t.Errorf("no test is linked: %s", row)
		}
		for _, test := range tests {
			code, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(test[2])))
			if err != nil {
				t.Error(err)
				continue
			}
			if !strings.Contains(string(code), "\nfunc "+test[1]+"(") {
				t.Errorf("%s has no %s", test[2], test[1])
			}
		}
	}
	if rows == 0 {
		t.Error("no rows were found")
	}
}
