package app_test

import (
	"errors"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/must"
	"plantstore/internal/watchdog"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// secret is a valid one.
const secret = "a secret of the tests, long enough for HS256"

func TestMain(m *testing.M) { watchdog.Main(m) }

// load returns the configuration of a server on free ports, with a database in dir.
func load(t *testing.T, dir string, flags map[string]string) *config.Config {
	t.Helper()
	all := map[string]string{
		"ADDR": "127.0.0.1:0", "ADMIN_ADDR": "127.0.0.1:0", "JWT_SECRET": secret, "LOG_FORMAT": "json",
		"STORAGE_URL": "bbolt:" + filepath.Join(dir, "plants.db"),
	}
	maps.Copy(all, flags)
	return must.Get(config.Load(config.Sources{Engines: storage.Engines{"bbolt": bbolt.Open}, Flags: all}))(t)
}

// TestCloseWithoutRun checks that a server that was opened and never run has its store and its
// ports released.
func TestCloseWithoutRun(t *testing.T) {
	dir := t.TempDir()
	c := load(t, dir, nil)
	a := must.Get(app.Open(t.Context(), c, app.Inputs{Stderr: io.Discard}))(t)
	must.Do(t, errors.Join(a.Store().CreateAll(t.Context(), make([]storage.Record, 1))...))
	addr := strings.TrimPrefix(a.BaseURL(), "http://")
	must.Do(t, a.Close())
	store := must.Get(app.OpenStore(t.Context(), c, storage.Options{ReadOnly: true}))(t)
	if n, err := store.Count(t.Context()); n != 1 || err != nil {
		t.Errorf("there are %d plants, %v, want 1", n, err)
	}
	must.Do(t, store.Close())
	again, err := app.Open(t.Context(), load(t, dir, map[string]string{"ADDR": addr}), app.Inputs{Stderr: io.Discard})
	if err != nil {
		t.Fatalf("its port is not released: %v", err)
	}
	must.Do(t, again.Close())
}
