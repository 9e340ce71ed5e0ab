package storage_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/storage"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]storage.Location{
		"bbolt:data/plants.db":          {Scheme: "bbolt", Path: "data/plants.db"},
		"BBolt:data/plants.db":          {Scheme: "bbolt", Path: "data/plants.db"},
		"data/plants.db":                {Scheme: "bbolt", Path: "data/plants.db"},
		"plants.db":                     {Scheme: "bbolt", Path: "plants.db"},
		"/srv/my plants/100%25 &?#.db":  {Scheme: "bbolt", Path: "/srv/my plants/100%25 &?#.db"},
		"bbolt:my plants/100%25 &?#.db": {Scheme: "bbolt", Path: "my plants/100%25 &?#.db"},
		"bbolt:///srv/my plants.db":     {Scheme: "bbolt", Path: "/srv/my plants.db"},
		"bbolt:/srv/plants.db":          {Scheme: "bbolt", Path: "/srv/plants.db"},
		"bbolt:a:b":                     {Scheme: "bbolt", Path: "a:b"},
		"bbolt:pl\nants":                {Scheme: "bbolt", Path: "pl\nants"},
		"./a:b":                         {Scheme: "bbolt", Path: "./a:b"},
		":a":                            {Scheme: "bbolt", Path: ":a"},
		"1a:b":                          {Scheme: "bbolt", Path: "1a:b"},
		"bbölt:b":                       {Scheme: "bbolt", Path: "bbölt:b"},
		`C:\plants.db`:                  {Scheme: "bbolt", Path: `C:\plants.db`},
		"c:/plants.db":                  {Scheme: "bbolt", Path: "c:/plants.db"},
		"bbolt:C:/plants.db":            {Scheme: "bbolt", Path: "C:/plants.db"},
		"bbolt://data/plants.db":        {Scheme: "bbolt"},
		"postgres://u:p@host/db":        {Scheme: "postgres"},
		"x-y.z+1:b":                     {Scheme: "x-y.z+1"},
		"postgres:///db?host=/run":      {Scheme: "postgres"},
	} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			want.URL = url
			got, err := storage.ParseURL(url)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("ParseURL: %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestParseURLRefuses(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"":           "names no place: write bbolt:PATH",
		"bbolt:":     "names no place: write bbolt:PATH",
		"a\x00b":     "has a NUL in it",
		"bbolt:\x00": "has a NUL in it",
	} {
		if _, err := storage.ParseURL(url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseURL(%q): %v, want: %s", url, err, want)
		}
	}
}

// TestParseURLVolume has a path that means another one on Windows.
func TestParseURLVolume(t *testing.T) {
	t.Parallel()
	want := "/C:/plants.db"
	if filepath.VolumeName("C:/") != "" {
		want = "C:/plants.db"
	}
	got, err := storage.ParseURL("bbolt:///C:/plants.db")
	if err != nil || got.Path != want {
		t.Errorf("Path = %q, %v, want %q", got.Path, err, want)
	}
}

func TestEnginesOpen(t *testing.T) {
	t.Parallel()
	errOpened, errWrong := errors.New("opened"), errors.New("wrong engine")
	var opened storage.Location
	engines := storage.Engines{
		"etcd": func(context.Context, storage.Location) (storage.Store, error) { return nil, errWrong },
		"bbolt": func(_ context.Context, loc storage.Location) (storage.Store, error) {
			opened = loc
			return nil, errOpened
		},
	}
	if _, err := engines.Open(t.Context(), "data/plants.db"); !errors.Is(err, errOpened) || opened.Path != "data/plants.db" {
		t.Errorf("Open = %v with %+v, want the opener of bbolt called", err, opened)
	}
	if _, err := engines.Open(t.Context(), ""); err == nil {
		t.Error("Open of an empty URL: nil")
	}
	_, err := engines.Open(t.Context(), "mysql://root:hunter2@host/db")
	if err == nil || !strings.Contains(err.Error(), `"mysql"; known: bbolt, etcd`) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("Open of an unknown scheme: %v, want the known ones and no password", err)
	}
}
