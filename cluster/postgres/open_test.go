package postgres

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"plantstore/internal/must"
	"plantstore/storage"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	plain := must.Get(parseURL(location(t, "PostgreSQL://me:secret@h1:1,h2:2/plants?search_path=garden")))(t)
	if c := plain.ConnConfig; c.Host != "h1" || c.Port != 1 || c.User != "me" || c.Password != "secret" || c.Database != "plants" ||
		c.RuntimeParams["search_path"] != "garden" || len(c.Fallbacks) == 0 {
		t.Errorf("it was read as %+v", c.Config)
	}
	if plain.MaxConns != connections || plain.ConnConfig.ConnectTimeout != connectTimeout ||
		plain.ConnConfig.DefaultQueryExecMode != pgx.QueryExecModeExec {
		t.Errorf("it has not our defaults: %+v", plain)
	}
	options := "?pool_max_conns=3&connect_timeout=7&default_query_exec_mode=cache_statement"
	own := must.Get(parseURL(location(t, "postgres://h/plants"+options)))(t)
	if own.MaxConns != 3 || own.ConnConfig.ConnectTimeout != 7*time.Second ||
		own.ConnConfig.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement {
		t.Errorf("the configuration differs from the URL: %+v", own)
	}
}

// TestParseURLRefuses checks that no error contains a password (C4.25).
func TestParseURLRefuses(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"postgres:plants":                             "names no host",
		"postgres:///plants":                          "names no host",
		"postgres://me:hunter2@h:x/plants":            "cannot be read",
		"postgres://me:hunter2%zz@h/plants":           "cannot be read",
		"postgres://me:hunter2@h/p?pool_max_conns=no": "cannot be read (pool)",
		"postgres://me:hunter2@h/p?connect_timeout=x": "cannot be read (connect_timeout)",
		"postgres://h/p?sslmode=hunter2":              "cannot be read",
		"postgres://h/p?password=hunter2&sslmode=x":   "cannot be read",
		"postgres://h/p?sslpassword=hunter2&sslkey=/": "sslkey",
		"postgres://me:hunter2@h,/p?port=0":           "cannot be read",
	} {
		_, err := parseURL(storage.Location{Scheme: "postgres", URL: url})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want: %s", url, err, want)
		}
	}
}

func TestOpenHidesPassword(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), location(t, "postgres://me:hunter2@127.0.0.1:1/plants"), storage.Options{ReadOnly: true})
	if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") ||
		!strings.Contains(err.Error(), "PostgreSQL at 127.0.0.1:1/plants: ") {
		t.Errorf("Open = %v, want one line with the place and without the password", err)
	}
}

func location(t *testing.T, url string) storage.Location {
	t.Helper()
	return must.Get(storage.ParseURL(url))(t)
}
