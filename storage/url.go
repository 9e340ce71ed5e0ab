package storage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"plantstore/models"
)

// DefaultScheme is the scheme of a location that is a plain path.
const DefaultScheme = "bbolt"

// ErrURL is the error of a storage URL that this program cannot open.
var ErrURL = errors.New("storage URL")

// A Location is a parsed storage URL.
type Location struct {
	// Scheme names the engine, in lower case.
	Scheme string
	// Path is the database file of bbolt:data/plants.db, bbolt:///srv/plants.db or
	// data/plants.db. It is literal, without escape sequences. It is empty if the URL
	// names a host, or an engine without a file.
	Path string
	// URL is the complete URL, for engines that are reached over a network. It may
	// hold a password; [Location.String] does not.
	URL string
}

// ParseURL parses a storage URL. A plain path, also one with a drive letter, means the
// engine of [DefaultScheme]. A path that looks like a URL or a connection string of a
// database must be written with that scheme. Errors do not repeat a possible password.
func ParseURL(rawURL string) (Location, error) {
	loc := Location{Scheme: DefaultScheme, Path: rawURL, URL: rawURL}
	rest := rawURL
	// A scheme as in RFC 3986, section 3.1, but of two characters at least: C:\plants.db is a path.
	if match := regexp.MustCompile(`(?s)^([A-Za-z][A-Za-z0-9+.-]+):(.*)`).FindStringSubmatch(rawURL); match != nil {
		loc.Scheme, loc.Path, rest = strings.ToLower(match[1]), "", match[2]
		if loc.Scheme == DefaultScheme {
			loc.Path = pathOf(rest)
		}
	}
	_, _, isURL := redact(rawURL)
	switch {
	case rest == "":
		return Location{}, fmt.Errorf("storage URL %q has no path: write %s:PATH", rawURL, loc.Scheme)
	case loc.Scheme != DefaultScheme && !isURL:
		return Location{}, fmt.Errorf("the storage URL is neither a path nor a URL such as postgres://USER:PASSWORD@HOST:PORT/DATABASE; "+
			"in a user, password or option write special characters as %% and two digits; for a file with such a name write %s:PATH", DefaultScheme)
	case rest == rawURL && !isPlainPath(rawURL):
		return Location{}, fmt.Errorf("the storage URL is not clearly a path: it has a blank, a colon, an equals sign or :// in it, or begins with //; "+
			"for a file with such a name write %s:PATH, for a database a URL such as postgres://HOST:PORT/DATABASE", DefaultScheme)
	case strings.ContainsRune(loc.Path, 0):
		return Location{}, fmt.Errorf("the storage path has a NUL in it")
	}
	return loc, nil
}

// isPlainPath reports whether a text can only be the path of a file: a misspelled URL must
// not create a database.
func isPlainPath(text string) bool {
	if regexp.MustCompile(`^[A-Za-z]:[/\\]`).MatchString(text) { // a drive
		text = text[2:]
	}
	first, _, _ := strings.Cut(filepath.ToSlash(text), "/")
	odd := func(r rune) bool {
		return r == '=' || unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	}
	return !strings.Contains(first, ":") && !strings.Contains(text, "://") && !strings.HasPrefix(text, "//") && !strings.ContainsFunc(text, odd)
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

// String returns the URL without secrets: without a password, and without the options,
// which may have one. If the URL cannot be parsed with certainty, all of it is hidden
// (C4.25).
func (l Location) String() string {
	if l.Path != "" {
		return l.URL
	}
	shown, _, _ := redact(l.URL)
	return shown
}

// HasPassword reports whether the URL has a password, of the user or among the options,
// or may have one because it cannot be parsed.
func (l Location) HasPassword() bool {
	_, hasPassword, _ := redact(l.URL)
	return hasPassword && l.Path == ""
}

// redact returns a URL of a network without secrets, and whether it has any. It parses it by a
// grammar in which the beginning and the end of a password are unambiguous: where an @ may
// follow it, no other @ is allowed. ok is false for a text that is not of this grammar.
func redact(rawURL string) (shown string, hasPassword, ok bool) {
	const (
		host    = `(?:\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9._~-]*)(?::[0-9]*)?`
		grammar = `^([A-Za-z][A-Za-z0-9+.-]+://)` + // scheme
			`(?:([^:/?#\s]*)(?::([^/?#\s]*))?(@))?` + // user, password
			`(` + host + `(?:,` + host + `)*(?:/[^@?#\s]*)?)` + // hosts and path
			`(\?[^@#\s]*)?$` // options
	)
	match := regexp.MustCompile(grammar).FindStringSubmatch(rawURL)
	if match == nil || strings.ContainsFunc(rawURL, unicode.IsControl) ||
		strings.Contains(strings.ToLower(match[2]), "%3a") { // a colon in the user, perhaps followed by a password
		return models.Redacted, true, false
	}
	scheme, user, password, at, hosts, options := match[1], match[2], match[3], match[4], match[5], match[6]
	shown = scheme + user
	if password != "" {
		shown += ":" + models.Redacted
	}
	shown += at + hosts
	if options != "" {
		shown += "?" + models.Redacted
	}
	return shown, password != "" || HasSecretOption(strings.TrimPrefix(options, "?")), true
}

// HasSecretOption reports whether the query of a URL has an option that may hold a
// secret, by its name. A query that cannot be parsed may have one.
func HasSecretOption(query string) bool {
	values, err := url.ParseQuery(query)
	for name := range values {
		for _, word := range []string{"password", "passwd", "pwd", "secret", "token", "credential", "apikey", "api_key", "api-key"} {
			if strings.Contains(strings.ToLower(name), word) {
				return true
			}
		}
	}
	return err != nil
}

// An Opener opens the store at a location.
type Opener func(ctx context.Context, loc Location, options Options) (*Store, error)

// Engines are the openers of the available engines, by scheme.
type Engines map[string]Opener

// Open opens the store that a storage URL names. The URL itself, which may hold
// a password, is in none of its errors unless it is a path.
func (e Engines) Open(ctx context.Context, rawURL string, options Options) (*Store, error) {
	loc, err := ParseURL(rawURL)
	if err != nil {
		return nil, err
	}
	if err := e.Supports(loc); err != nil {
		return nil, err
	}
	return e[loc.Scheme](ctx, loc, options)
}

// Supports returns an error that matches [ErrURL] if no engine has the scheme of the
// location.
func (e Engines) Supports(loc Location) error {
	if _, ok := e[loc.Scheme]; ok {
		return nil
	}
	if slices.Contains([]string{"etcd", "postgres", "postgresql"}, loc.Scheme) {
		return fmt.Errorf("the %w needs plantstore-cluster, the program for several machines: see docs/several-machines.md", ErrURL)
	}
	known := strings.Join(slices.Sorted(maps.Keys(e)), ", ")
	return fmt.Errorf("%w has the unknown scheme %q; known: %s (for a file with such a name write %s:PATH)",
		ErrURL, loc.Scheme, known, DefaultScheme)
}
