package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// plantsDB creates data/plants.db in the working directory, with one plant.
func plantsDB(t *testing.T) string {
	t.Helper()
	const path = "data/plants.db"
	store, err := bbolt.OpenFile(path, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Create(t.Context(), 7, models.Plant{Name: "Monstera"}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCheck(t *testing.T) {
	t.Chdir(t.TempDir())
	path := plantsDB(t)
	if got := output(t, nil, "check"); got != "1 plant is intact, 0 findings\n" {
		t.Errorf("check prints %q", got)
	}
	var report struct {
		Plants     int
		Corruption []string
	}
	if err := json.Unmarshal([]byte(output(t, nil, "check", "--json")), &report); err != nil || report.Plants != 1 || len(report.Corruption) != 0 {
		t.Errorf("check --json: %+v, %v", report, err)
	}
	contents, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, string(bytes.ReplaceAll(contents, []byte("Monstera"), []byte("Monstero"))))
	corrupt := run(t, nil, "check")
	if corrupt.code != 1 || !strings.Contains(corrupt.stdout, "id 7: wrong checksum") ||
		!strings.Contains(corrupt.stderr, "data/plants.db is corrupt: restore a backup") {
		t.Errorf("check of a corrupt plant: %+v", corrupt)
	}
}

// noDatabase is the error and the advice for a missing database.
const noDatabase = "no such file or directory; name the database with --storage-url, or run plantstore serve first"

func TestCheckWithoutDatabase(t *testing.T) {
	t.Chdir(t.TempDir())
	checkFailure(t, run(t, nil, "check"), 1, "database data/plants.db cannot be opened: "+noDatabase)
	if _, err := os.Stat("data"); err == nil {
		t.Error("the directory was made")
	}
}
