package config

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/joho/godotenv"

	"plantstore/internal/secretfile"
)

// ErrDotenv is returned for a file that is not a .env file.
var ErrDotenv = errors.New("is not NAME=value, or has a quotation mark that is not closed; compare it with .env.example")

// maxDotenv is the maximum size of a .env file in bytes.
const maxDotenv = 1 << 20

// DotenvFile is the file with options in the working directory.
const DotenvFile = ".env"

// ReadDotenv returns the values in a .env file; none if it does not exist. It fails with
// [ErrDotenv], which names the line but not its contents, and with
// [secretfile.ErrUntrusted] for a file that other users can change. A file with a secret
// that they can read is passed to report.
func ReadDotenv(path string, report secretfile.Report) (map[string]string, error) {
	var exposure secretfile.Exposure // zero: none
	text, err := secretfile.ReadConfig(path, maxDotenv, func(e secretfile.Exposure) { exposure = e })
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, err
	}
	values, err := parseDotenv(text)
	if err == nil && exposure.Path != "" && report != nil && holdsSecret(values) {
		report(exposure)
	}
	return values, err
}

func holdsSecret(values map[string]string) bool {
	return values["JWT_SECRET"] != "" || values["STORAGE_URL"] != "" && hasPassword(values["STORAGE_URL"])
}

func parseDotenv(text []byte) (map[string]string, error) {
	lines := strings.SplitAfter(string(text), "\n")
	values, ok := parseLines(lines)
	if ok {
		return values, nil
	}
	good := len(lines) - 1
	for ; good > 0; good-- {
		if _, ok := parseLines(lines[:good]); ok {
			break
		}
	}
	return nil, fmt.Errorf("line %d %w", good+1, ErrDotenv)
}

func parseLines(lines []string) (values map[string]string, ok bool) {
	values, err := godotenv.Unmarshal(strings.Join(lines, ""))
	_, nameless := values[""]
	return values, err == nil && !nameless
}

// checkText rejects text that godotenv can't read from a line of a .env file.
func checkText(text string) error {
	switch {
	case !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return errors.New("must be UTF-8 without control characters")
	case strings.HasSuffix(text, `"`) || strings.HasSuffix(text, `\`):
		return errors.New(`must not end in " or \`)
	}
	return nil
}

// IsPlain reports whether text needs no quotes in .env files and POSIX shells, if it is not
// empty.
func IsPlain(text string) bool {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:@,+"
	return strings.Trim(text, plain) == ""
}

// quote quotes a value that passes checkText for .env files and POSIX shells.
func quote(text string) string {
	switch {
	case IsPlain(text):
		return text
	case !strings.Contains(text, "'"):
		return "'" + text + "'"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(text) + `"`
}
