package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// misspelled returns [Config.Misspelled] for the values in .env.
func misspelled(dotenv map[string]string) string {
	var options, hints []string
	for _, o := range Options() {
		options = append(options, o.Env)
	}
	for _, name := range slices.Sorted(maps.Keys(dotenv)) {
		if hint := Suggest(strings.ToUpper(name), options); hint != "" && !slices.Contains(options, name) {
			hints = append(hints, name+" ("+strings.TrimPrefix(hint, "; ")+")")
		}
	}
	return strings.Join(hints, ", ")
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
