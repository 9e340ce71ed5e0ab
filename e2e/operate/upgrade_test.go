package operate

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
)

// TestDatabasesOfReleases opens a database of each release. These files are never changed, as
// they stand for the databases of users.
func TestDatabasesOfReleases(t *testing.T) {
	t.Parallel()
	changes := tools.ProjectFile(t, "CHANGELOG.md")
	releases := regexp.MustCompile(`(?m)^## \[([0-9.]+)\]`).FindAllSubmatch(changes, -1)
	if len(releases) == 0 {
		t.Fatal("CHANGELOG.md has no release")
	}
	for _, release := range releases {
		version := "v" + string(release[1])
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			kept := filepath.Join(tools.Project(t), "storage", "bbolt", "testdata", version)
			t.Run("is read", func(t *testing.T) {
				t.Parallel()
				checkReads(t, kept)
			})
			t.Run("is written", func(t *testing.T) {
				t.Parallel()
				checkWrites(t, kept)
			})
		})
	}
}

// take copies the database of a release into a directory with the layout that a server expects,
// and returns the directory and all plants as JSON Lines.
func take(t *testing.T, kept string) (dir, plants string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plants.db", "plants.db.mark"} { // the mark is of version 1, and unused
		if err := os.WriteFile(filepath.Join(dir, "data", name), []byte(contents(t, kept, name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, contents(t, kept, "plants.jsonl")
}

func contents(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// checkReads reads the database in every possible way.
func checkReads(t *testing.T, kept string) {
	t.Helper()
	dir, plants := take(t, kept)
	for _, step := range []struct {
		want string
		args []string
	}{
		{" 0 findings\n", []string{"check"}},
		{plants, []string{"plants", "list"}},
		{plants, []string{"plants", "export"}},
		{`{"id":-1,"name":"","tag":""}` + "\n", []string{"plants", "get", "--", "-1"}},
		{"", []string{"backup", "--quiet", "copy.db"}},
		{" 0 findings\n", []string{"check", "--storage-url", "copy.db"}},
		{plants, []string{"plants", "list", "--storage-url", "copy.db"}},
	} {
		got := plantstore.Run(t, dir, step.args...)
		if strings.HasPrefix(step.want, " ") {
			got = got[max(0, len(got)-len(step.want)):]
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("plantstore %v (-want +got):\n%s", step.args, diff)
		}
	}
}

// checkWrites starts a server with the database: stored plants are not created again, and
// new ones are (C5.27).
func checkWrites(t *testing.T, kept string) {
	t.Helper()
	dir, plants := take(t, kept)
	server := plantstore.Start(t, plantstore.Options{Dir: dir})
	token, lines := server.Token(), strings.SplitAfter(plants, "\n")
	for _, line := range lines[:len(lines)-1] {
		if got := server.Post(token, line); !got.Identical() {
			t.Errorf("%.60s gets %s", line, got.Body)
		}
	}
	if got := server.Post(token, `{"id":2,"name":"new"}`); got.Body != `{"name":"new"}`+"\n" {
		t.Errorf("a new plant gets %s", got.Body)
	}
	server.Stop()
	if got := plantstore.Run(t, dir, "plants", "get", "2"); got != `{"id":2,"name":"new"}`+"\n" {
		t.Errorf("stored is %s", got)
	}
	if got := plantstore.Run(t, dir, "check"); !strings.HasSuffix(got, " 0 findings\n") {
		t.Errorf("check: %s", got)
	}
}
