package config

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/joho/godotenv"

	"plantstore/internal/files"
)

// ErrDotenv is returned for a file that is not a .env file.
var ErrDotenv = errors.New("is not NAME=value, or has an unclosed quotation mark; compare it with .env.example")

// maxLines is the maximum number of lines of a value that an error message allows for.
const maxLines = 100

// DotenvFile is the file with options in the working directory.
const DotenvFile = ".env"

// ReadDotenv returns the values in a .env file; none if it does not exist. It fails with
// [ErrDotenv], which names the line but not its contents, and as [files.ReadConfig].
func ReadDotenv(path string) (map[string]string, error) {
	text, err := files.ReadConfig(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(string(text), "\n")
	values, ok := parseLines(lines)
	if !ok {
		return nil, fmt.Errorf("%s: line %d %w", DotenvFile, badLine(lines), ErrDotenv)
	}
	return values, nil
}

// badLine returns the number of the first line that is not part of a value. Its time is linear in the
// size of the file: no line is parsed more than maxLines times.
func badLine(lines []string) int {
	start := 0
	for end := 1; end <= min(start+maxLines, len(lines)); end++ {
		if _, ok := parseLines(lines[start:end]); ok {
			start = end
		}
	}
	return min(start+1, len(lines))
}

func parseLines(lines []string) (values map[string]string, ok bool) {
	values, err := godotenv.Unmarshal(strings.Join(lines, ""))
	_, nameless := values[""]
	return values, err == nil && !nameless
}

// CheckText rejects text that godotenv can't read from a line of a .env file.
func CheckText(text string) error {
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

// quote quotes a value that passes CheckText for .env files and POSIX shells.
func quote(text string) string {
	switch {
	case IsPlain(text):
		return text
	case !strings.Contains(text, "'"):
		return "'" + text + "'"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(text) + `"`
}
