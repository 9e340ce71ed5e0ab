package app_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"plantstore/internal/app"
	"plantstore/internal/auth"
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

// A syncBuffer is a buffer that the server writes to while a test reads it.
type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// create sends a plant to the server at base and returns the response.
func create(t *testing.T, base, body string) (status int, text string) {
	t.Helper()
	key := must.Get(auth.ParseSecret(secret))(t)
	token := must.Get(auth.Issue(key, auth.Grant{Subject: "test", TTL: time.Hour}, time.Now()))(t)
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/plants", strings.NewReader(body)))(t)
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response := must.Get((&http.Transport{DisableKeepAlives: true}).RoundTrip(request))(t)
	defer response.Body.Close()
	content := must.Get(io.ReadAll(response.Body))(t)
	return response.StatusCode, string(content)
}

// createOne runs a server, sends it one plant, and closes it. It returns the response.
func createOne(t *testing.T, a *app.App, body string) (status int, text string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	status, text = create(t, a.BaseURL(), body) // it is connected as soon as it is open
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	return status, text
}

// TestApp checks that a server is opened, creates a plant over HTTP and is closed; the next one
// on the same database has the plant.
func TestApp(t *testing.T) {
	c := load(t, t.TempDir(), nil)
	const plant = `{"id":1,"name":"Fern"}`
	for _, want := range []int{http.StatusOK, http.StatusBadRequest} {
		var log syncBuffer
		a := must.Get(app.Open(t.Context(), c, app.Options{Stderr: &log, TokenCommand: "the token command"}))(t)
		a.Notice(func(logger *slog.Logger) { logger.Info("a notice") })
		if got, body := createOne(t, a, plant); got != want {
			t.Errorf("the response is %d %s, want %d", got, body, want)
		}
		banner, notice := strings.Index(log.String(), `"token_command":"the token command"`), strings.Index(log.String(), "a notice")
		if banner < 0 || notice < banner {
			t.Errorf("the log lacks the banner, or the notice after it:\n%s", log.String())
		}
	}
}

// TestBannerOfSocket checks that the banner for people has the path of a socket, which no URL has.
func TestBannerOfSocket(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	var log syncBuffer
	a := must.Get(app.Open(t.Context(), load(t, dir, map[string]string{"ADDR": "unix:" + path, "LOG_FORMAT": "text"}), app.Options{Stderr: &log}))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Do(t, errors.Join(a.Run(ctx), a.Close()))
	if want := "\n  listens on   unix:" + path + "\n"; !strings.Contains(log.String(), want) {
		t.Errorf("the banner lacks%s:\n%s", want, log.String())
	}
}

// TestCloseWithoutRun checks that a server that was opened and never run has its store and its
// ports released.
func TestCloseWithoutRun(t *testing.T) {
	dir := t.TempDir()
	c := load(t, dir, nil)
	a := must.Get(app.Open(t.Context(), c, app.Options{Stderr: io.Discard}))(t)
	record := storage.Record{ID: 1}
	record.Plant.Name = "Fern"
	for _, err := range a.Store().CreateAll(t.Context(), []storage.Record{record}) {
		if err != nil {
			t.Error(err)
		}
	}
	addr := strings.TrimPrefix(a.BaseURL(), "http://")
	must.Do(t, a.Close())
	store, _, err := app.OpenStore(t.Context(), c, storage.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := store.Count(t.Context()); n != 1 || err != nil {
		t.Errorf("there are %d plants, %v, want 1", n, err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	again, err := app.Open(t.Context(), load(t, dir, map[string]string{"ADDR": addr}), app.Options{Stderr: io.Discard})
	if err != nil {
		t.Fatalf("its port is not released: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// TestOpenStoreFails checks that the store of a failed OpenStore is nil.
func TestOpenStoreFails(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	store, _, err := app.OpenStore(ended, load(t, t.TempDir(), nil), storage.Options{ReadOnly: true})
	if err == nil || store != nil {
		t.Errorf("OpenStore = %#v, %v, want nil and an error", store, err)
	}
}

// TestOpenFails checks that a failed Open releases all files: the same database opens
// afterwards.
func TestOpenFails(t *testing.T) {
	dir := t.TempDir()
	for name, flags := range map[string]map[string]string{
		"address": {"ADDR": "192.0.2.1:0"}, // for documentation only (RFC 5737)
		"keys":    {"JWT_PUBLIC_KEYS": filepath.Join(dir, "none.pem")},
	} {
		if a, err := app.Open(t.Context(), load(t, dir, flags), app.Options{Stderr: io.Discard}); err == nil {
			t.Errorf("%s: it opens", name)
			_ = a.Close()
		}
	}
	a := must.Get(app.Open(t.Context(), load(t, dir, nil), app.Options{Stderr: io.Discard}))(t)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}
