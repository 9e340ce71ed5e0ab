package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/internal/cli"
	"plantstore/internal/config"
	"plantstore/internal/must"
)

// TestHelp checks that the help of --storage-url names all engines.
func TestHelp(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	args := []string{"plantstore-cluster", "plants", "count", "--help"}
	if code := cli.Main(t.Context(), cli.Process{Name: args[0], Args: args, Stdout: &out, Stderr: &out, StorageOptions: storageOptions()}); code != 0 {
		t.Fatalf("exit code %d: %s", code, &out)
	}
	_, help, _ := strings.Cut(out.String(), "--storage-url ")
	for _, engine := range []string{"etcd://", "postgres://", "bbolt:"} {
		if line, _, _ := strings.Cut(help, "\n"); !strings.Contains(line, engine) {
			t.Errorf("the help of --storage-url lacks %s: %s", engine, line)
		}
	}
}

// TestStorageURLFile checks that the file holds one line with a storage URL, which is in no
// error and not printed.
func TestStorageURLFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "url")
	load := func() (*config.Config, error) {
		return config.Load(config.Sources{
			Environ: map[string]string{"STORAGE_URL_FILE": path}, Options: config.Options(storageOptions()...),
		})
	}
	if _, err := load(); err == nil || !strings.Contains(err.Error(), "name the file with the storage URL") {
		t.Errorf("without the file: %v", err)
	}
	for contents, want := range map[string]string{
		"postgres://u:tell@h/db\n":         "postgres://u:tell@h/db",
		"\ufeffpostgres://u:tell@h/db\r\n": "postgres://u:tell@h/db",
		"a.db":                             "a.db",
		"":                                 "",
		"\n":                               "",
		" postgres://u:tell@h/db\n":        "",
		"postgres://u:tell@h/db\n\n":       "",
		"a.db\npostgres://u:tell@h/db\n":   "",
		"host=h password=tell\n":           "",
		"STORAGE_URL=a.db\n":               "",
	} {
		must.Do(t, os.WriteFile(path, []byte(contents), 0o600))
		c, err := load()
		if err != nil {
			if want != "" || strings.Contains(err.Error(), "tell") || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %v, want %s", contents, err, want)
			}
			continue
		}
		if c.Storage.URL != want {
			t.Errorf("%q: %s, want %s", contents, c.Storage.URL, want)
		}
		if lines := strings.Join(c.Lines(), "\n"); strings.Contains(lines, "tell") || !strings.Contains(lines, "\nSTORAGE_URL_FILE=") {
			t.Errorf("%q is printed as\n%s", contents, lines)
		}
	}
}
