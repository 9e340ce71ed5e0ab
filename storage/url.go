package storage

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

// defaultScheme is the scheme of a location that is a plain path.
const defaultScheme = "bbolt"

// redacted stands for a password (C4.25).
const redacted = "REDACTED"

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
// engine of [defaultScheme]. A path that looks like a URL or a connection string of a
// database must be written with that scheme. Errors do not repeat a possible password.
func ParseURL(rawURL string) (Location, error) {
	loc := Location{Scheme: defaultScheme, Path: rawURL, URL: rawURL}
	scheme, rest, found := strings.Cut(rawURL, ":")
	switch {
	case found && strings.EqualFold(scheme, defaultScheme):
		loc.Path = pathOf(rest)
	case found && isScheme(scheme):
		loc.Scheme, loc.Path = strings.ToLower(scheme), ""
	default:
		rest = rawURL
	}
	switch {
	case rest == "":
		return Location{}, fmt.Errorf("storage URL %q has no path: write %s:PATH", rawURL, loc.Scheme)
	case loc.Scheme != defaultScheme && !networkURL(rawURL).valid:
		return Location{}, fmt.Errorf("the storage URL is neither a path nor one such as postgres://USER:PASSWORD@HOST:PORT/DATABASE; "+
			"in a user, password or option write special characters as %% and two digits; for a file with such a name write %s:PATH", defaultScheme)
	case rest == rawURL && !isPlainPath(rawURL):
		return Location{}, fmt.Errorf("the storage URL is not clearly a path: it has a blank, a colon, an equals sign or :// in it, or begins with //; "+
			"for a file with such a name write %s:PATH, for a database a URL such as postgres://HOST:PORT/DATABASE", defaultScheme)
	case strings.ContainsRune(loc.Path, 0):
		return Location{}, fmt.Errorf("the storage path has a NUL in it")
	}
	return loc, nil
}

// isPlainPath reports whether a text can only be the path of a file: a misspelt URL must
// not create a database.
func isPlainPath(text string) bool {
	if drive, rest, found := strings.Cut(text, ":"); found && len(drive) == 1 && isLetter(drive[0]) && strings.IndexAny(rest, `/\`) == 0 {
		text = rest
	}
	first, _, _ := strings.Cut(filepath.ToSlash(text), "/")
	odd := func(r rune) bool {
		return r == '=' || unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	}
	return !strings.Contains(first, ":") && !strings.Contains(text, "://") && !strings.HasPrefix(text, "//") && !strings.ContainsFunc(text, odd)
}

// isScheme reports whether s is a scheme as in RFC 3986, section 3.1, but of
// two characters at least: C:\plants.db is a path.
func isScheme(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(s[i]))) {
			return false
		}
	}
	return len(s) >= 2
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

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
	return ShownURL(l.URL)
}

// HasPassword reports whether the URL has a password, of the user or among the options,
// or may have one because it cannot be parsed.
func (l Location) HasPassword() bool {
	if l.Path != "" {
		return false
	}
	u := networkURL(l.URL)
	return !u.valid || u.password != "" || HasSecretOption(u.query)
}

// ShownURL returns a URL of a network without secrets, as [Location.String] does.
func ShownURL(rawURL string) string {
	u := networkURL(rawURL)
	if !u.valid {
		return redacted
	}
	shown := u.scheme + "://" + u.user
	if u.password != "" {
		shown += ":" + redacted
	}
	shown += u.at + u.hosts + u.path
	if u.hasQuery {
		shown += "?" + redacted
	}
	return shown
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

// A network is a parsed URL with hosts.
type network struct {
	valid                      bool
	scheme, user, password, at string
	hosts, path, query         string
	hasQuery                   bool
}

// networkURL parses a URL by a grammar in which the beginning and the end of a password
// are unambiguous: where an @ may follow it, no other @ is allowed.
func networkURL(rawURL string) network {
	const (
		host = `(?:\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9._~-]*)(?::[0-9]*)?`
		text = `(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+)://` +
			`(?:(?P<user>[^:/?#\s]*)(?::(?P<password>[^/?#\s]*))?(?P<at>@))?` +
			`(?P<hosts>` + host + `(?:,` + host + `)*)` +
			`(?P<path>/[^@?#\s]*)?(?P<query>\?[^@#\s]*)?`
	)
	grammar := regexp.MustCompile("^" + text + "$")
	match := grammar.FindStringSubmatch(rawURL)
	if match == nil || strings.ContainsFunc(rawURL, unicode.IsControl) {
		return network{}
	}
	part := func(name string) string { return match[grammar.SubexpIndex(name)] }
	if strings.Contains(strings.ToLower(part("user")), "%3a") { // a colon, perhaps followed by a password
		return network{}
	}
	query, hasQuery := strings.CutPrefix(part("query"), "?")
	return network{
		valid: true, scheme: part("scheme"), user: part("user"), password: part("password"), at: part("at"),
		hosts: part("hosts"), path: part("path"), query: query, hasQuery: hasQuery,
	}
}
