package storage_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/storage"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	drive := "/C:/plants.db"
	if filepath.VolumeName("C:/") != "" { // on Windows
		drive = drive[1:]
	}
	for url, want := range map[string]storage.Location{
		"bbolt:data/plants.db":               {Scheme: "bbolt", Path: "data/plants.db"},
		"BBolt:data/plants.db":               {Scheme: "bbolt", Path: "data/plants.db"},
		"data/plants.db":                     {Scheme: "bbolt", Path: "data/plants.db"},
		"/srv/100%25&?#.db":                  {Scheme: "bbolt", Path: "/srv/100%25&?#.db"},
		"bbolt:/srv/my plants/100%25 &?#.db": {Scheme: "bbolt", Path: "/srv/my plants/100%25 &?#.db"},
		"bbolt:host=h user=u":                {Scheme: "bbolt", Path: "host=h user=u"},
		"bbolt:///srv/my plants.db":          {Scheme: "bbolt", Path: "/srv/my plants.db"},
		"bbolt:a:b":                          {Scheme: "bbolt", Path: "a:b"},
		"bbolt:pl\nants":                     {Scheme: "bbolt", Path: "pl\nants"},
		"./a:b":                              {Scheme: "bbolt", Path: "./a:b"},
		`C:\plants.db`:                       {Scheme: "bbolt", Path: `C:\plants.db`},
		"c:/plants.db":                       {Scheme: "bbolt", Path: "c:/plants.db"},
		"bbolt:///C:/plants.db":              {Scheme: "bbolt", Path: drive},
		"bbolt://data/plants.db":             {Scheme: "bbolt"},
		"postgres://u:p@host/db":             {Scheme: "postgres"},
		"POSTGRES://u:p@host/db":             {Scheme: "postgres"},
		"x-y.z+1://b":                        {Scheme: "x-y.z+1"},
		"postgres:///db?host=/run":           {Scheme: "postgres"},
		"etcd://u:p@a:1,b,[::1]:2/plants":    {Scheme: "etcd"},
	} {
		want.URL = url
		if got, err := storage.ParseURL(url); got != want || err != nil {
			t.Errorf("ParseURL(%q) = %+v, %v, want %+v", url, got, err, want)
		}
	}
}

// TestParseURLRefuses checks that a text that may be the URL of a database never becomes a file
// of that name, and no error repeats it.
func TestParseURLRefuses(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"":                                     "has no path: write bbolt:PATH",
		"bbolt:":                               "has no path: write bbolt:PATH",
		"a\x00b":                               "not clearly a path",
		"bbolt:\x00SECRET":                     "has a NUL in it",
		"host=h user=u password=SECRET":        "not clearly a path",
		" postgres://u:SECRET@h/db":            "not clearly a path",
		"\ufeffpostgres://u:SECRET@h/db":       "not clearly a path",
		"\u200bpostgres:SECRET":                "not clearly a path",
		"'postgres://u:SECRET@h/db'":           "not clearly a path",
		"p\u043estgres://u:SECRET@h/db":        "not clearly a path",
		"//u:SECRET@h/db":                      "not clearly a path",
		"1a:SECRET@h/db":                       "not clearly a path",
		"u:SECRET@h/db":                        "not clearly a path", // u is not a drive
		":SECRET":                              "not clearly a path",
		"my plants.db":                         "not clearly a path",
		"my\u00a0plants.db":                    "not clearly a path",
		"user:SECRET@h/db":                     "neither a path nor",
		"jdbc:postgresql://h/db?user=u&SECRET": "neither a path nor",
		"postgres:SECRET":                      "neither a path nor",
		"postgres://u:SECRET?PW@h/db":          "neither a path nor",
		"postgres://u:1/SECRET@h/db":           "neither a path nor",
		"postgres://u:1#SECRET@h/db":           "neither a path nor",
		"postgres://u:SEC RET@h/db":            "neither a path nor",
		"postgres://u:SECRET@h/db\n":           "neither a path nor",
		"postgres://u:SECRET@h/d\x01b":         "neither a path nor",
		"postgres://u%3aSECRET@h/db":           "neither a path nor",
		"etcd://u:SECRET":                      "neither a path nor",
	} {
		_, err := storage.ParseURL(url)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("ParseURL(%q): %v, want: %s", url, err, want)
		}
	}
}

// TestLocationString checks that a URL is shown without a password, and hidden where it cannot be
// read (C4.25).
func TestLocationString(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]struct {
		shown    string
		password bool
	}{
		"postgres://me:tell@db:5432/plants":         {"postgres://me:REDACTED@db:5432/plants", true},
		"postgres://me:t%65ll@db":                   {"postgres://me:REDACTED@db", true},
		"postgres://me:tell@nobody@db":              {"postgres://me:REDACTED@db", true},
		"postgres://:tell@db":                       {"postgres://:REDACTED@db", true},
		"postgres://me@db/plants":                   {"postgres://me@db/plants", false},
		"postgres://me:@db/plants":                  {"postgres://me@db/plants", false},
		"postgres://db/plants?sslmode=disable":      {"postgres://db/plants?REDACTED", false},
		"postgres://db/plants?password=tell":        {"postgres://db/plants?REDACTED", true},
		"postgres://db/plants?p%61ssword=tell":      {"postgres://db/plants?REDACTED", true},
		"postgres://db/plants?a=b&sslpassword=tell": {"postgres://db/plants?REDACTED", true},
		"postgres://db/plants?PASSWORD=tell":        {"postgres://db/plants?REDACTED", true},
		"postgres://db/plants?%zz=tell":             {"postgres://db/plants?REDACTED", true},
		"etcd://root:tell@a:1,b:2,[::1]:3/p?tls=on": {"etcd://root:REDACTED@a:1,b:2,[::1]:3/p?REDACTED", true},
		"postgres://me:tell/nobody@db":              {"REDACTED", true},
		"postgres://me:tell?nobody@db":              {"REDACTED", true},
		"host=h password=tell":                      {"REDACTED", true},
		"postgres:me:tell@db/plants":                {"REDACTED", true},
	} {
		loc := storage.Location{URL: url}
		if got := fmt.Sprintf("%v", loc); got != want.shown {
			t.Errorf("%s is shown as %s, want %s", url, got, want.shown)
		}
		if got := loc.HasPassword(); got != want.password {
			t.Errorf("%s has a password: %t", url, got)
		}
	}
	path := storage.Location{URL: "bbolt:///srv/a:b@c.db", Path: "/srv/a:b@c.db"}
	if path.String() != path.URL || path.HasPassword() {
		t.Errorf("a path is shown as %s", path)
	}
}

func TestEnginesOpen(t *testing.T) {
	t.Parallel()
	errOpened, errWrong := errors.New("opened"), errors.New("wrong engine")
	var opened storage.Location
	var with storage.Options
	engines := storage.Engines{
		"etcd": func(context.Context, storage.Location, storage.Options) (*storage.Store, error) { return nil, errWrong },
		"bbolt": func(_ context.Context, loc storage.Location, options storage.Options) (*storage.Store, error) {
			opened, with = loc, options
			return nil, errOpened
		},
	}
	if _, err := engines.Open(t.Context(), "data/plants.db", storage.Options{ReadOnly: true}); !errors.Is(err, errOpened) ||
		opened.Path != "data/plants.db" || !with.ReadOnly {
		t.Errorf("Open = %v with %+v, want the opener of bbolt called", err, opened)
	}
	if _, err := engines.Open(t.Context(), "", storage.Options{}); err == nil {
		t.Error("Open of an empty URL: nil")
	}
	_, err := engines.Open(t.Context(), "mysql://root:hunter2@host/db", storage.Options{})
	if err == nil || !strings.Contains(err.Error(), `"mysql"; known: bbolt, etcd`) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("Open of an unknown scheme: %v, want the known ones and no password", err)
	}
}
