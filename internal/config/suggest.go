package config

import (
	"fmt"
	"strings"
)

// Misspelled lists the names in .env that are similar to options, with suggestions; empty:
// none. It omits other unknown names, which may be parts of a secret (C4.25).
func (c *Config) Misspelled() string {
	var names []string
	options := optionNames()
	for _, name := range c.Unknown {
		if hint := Suggest(strings.ToUpper(name), options); hint != "" {
			names = append(names, name+" ("+strings.TrimPrefix(hint, "; ")+")")
		}
	}
	return strings.Join(names, ", ")
}

// Suggest returns a hint for a misspelled name; empty: no name is similar.
func Suggest(name string, names []string) string {
	nearest, least := "", (len(name)+1)/3+1
	for _, n := range names {
		d := distance(name, n)
		if strings.HasPrefix(n, name+"-") {
			d = -1
		}
		if d < least {
			nearest, least = n, d
		}
	}
	if nearest == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", nearest)
}

// distance returns the Levenshtein distance of a and b in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
