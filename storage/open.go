package storage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// defaultScheme is the scheme of a location that is a plain path.
const defaultScheme = "bbolt"

// ErrURL is the error of a storage URL that names nothing which this program can open.
var ErrURL = errors.New("storage URL")

// BadURL returns err, of which the storage URL is the cause, as one that matches
// [ErrURL].
func BadURL(err error) error { return urlError{err} }

// A urlError has the words of another error and matches [ErrURL].
type urlError struct{ error }

func (urlError) Is(target error) bool { return target == ErrURL }

// A Location is a storage URL, taken apart.
type Location struct {
	// Scheme names the engine, in lower case.
	Scheme string
	// Path is the file that the plants are in: that of bbolt:data/plants.db,
	// bbolt:///srv/plants.db, or data/plants.db. It is taken literally: nothing
	// in it is escaped. It is empty if the URL names a host, or an engine that
	// keeps no file of its own.
	Path string
	// URL is the whole, for engines that are reached over a network. It may
	// hold a password.
	URL string
	// ReadOnly opens the store to be looked at, and nothing else.
	ReadOnly bool
}

// ParseURL takes a storage URL apart. A plain path, also one with a drive
// letter, means the engine of [defaultScheme].
func ParseURL(rawURL string) (Location, error) {
	loc := Location{Scheme: defaultScheme, Path: rawURL, URL: rawURL}
	if scheme, rest, found := strings.Cut(rawURL, ":"); found && isScheme(scheme) {
		loc.Scheme, loc.Path = strings.ToLower(scheme), ""
		if loc.Scheme == defaultScheme {
			loc.Path = pathOf(rest)
		}
		rawURL = rest
	}
	if rawURL == "" {
		return Location{}, fmt.Errorf("storage URL %q names no place: write %s:PATH", loc.URL, loc.Scheme)
	}
	if strings.ContainsRune(loc.Path, 0) {
		return Location{}, fmt.Errorf("storage path %q has a NUL in it", loc.Path)
	}
	return loc, nil
}

// isScheme reports whether s is a scheme as in RFC 3986, section 3.1, but of
// two characters at least: C:\plants.db is a path.
func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(c))) {
			return false
		}
	}
	return len(s) >= 2
}

// pathOf returns the path in what follows the scheme: all of it, without the
// empty host of ///path. With a host there is none.
func pathOf(rest string) string {
	path, hasHost := strings.CutPrefix(rest, "//")
	switch {
	case !hasHost:
		return rest
	case !strings.HasPrefix(path, "/"):
		return ""
	case filepath.VolumeName(path[1:]) != "": // ///C:/plants.db on Windows
		return path[1:]
	}
	return path
}

// An Opener opens the store at a location.
type Opener func(ctx context.Context, loc Location) (Store, error)

// Engines are the openers of the engines there are, by their schemes.
type Engines map[string]Opener

// Open opens the store that a storage URL names. The URL itself, which may hold
// a password, is in none of its errors unless it is a path.
func (e Engines) Open(ctx context.Context, rawURL string) (Store, error) {
	return e.open(ctx, rawURL, false)
}

// OpenReadOnly is Open for a store that is only looked at: nothing is made or
// changed, and creates are refused.
func (e Engines) OpenReadOnly(ctx context.Context, rawURL string) (Store, error) {
	return e.open(ctx, rawURL, true)
}

func (e Engines) open(ctx context.Context, rawURL string, readOnly bool) (Store, error) {
	loc, err := ParseURL(rawURL)
	if err != nil {
		return nil, err
	}
	loc.ReadOnly = readOnly
	if err := e.Know(loc); err != nil {
		return nil, err
	}
	return e[loc.Scheme](ctx, loc)
}

// Know returns an error that matches [ErrURL] if none of the engines is that of
// the location.
func (e Engines) Know(loc Location) error {
	if _, ok := e[loc.Scheme]; ok {
		return nil
	}
	known := strings.Join(slices.Sorted(maps.Keys(e)), ", ")
	return fmt.Errorf("%w has the unknown scheme %q; known: %s (for a file with such a name write %s:PATH)",
		ErrURL, loc.Scheme, known, defaultScheme)
}
