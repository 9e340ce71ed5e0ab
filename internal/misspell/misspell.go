// Package misspell finds what a misspelled name means.
package misspell

import "strings"

// Near reports whether a name may be a misspelling of another one: the other one begins with it, or
// one letter of it differs, and in a name of six letters or more two.
func Near(given, name string) bool {
	return len(given) > 2 && strings.HasPrefix(name, given) || distance(given, name) <= min(2, len(given)/3)
}

// distance returns how many letters must be inserted, deleted, replaced, or swapped with the next one
// to get b from a.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1) // the distances of the first letters of a from those of b
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
			case a[i-1] == b[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j-1], rows[i-1][j], rows[i][j-1])
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					rows[i][j] = min(rows[i][j], 1+rows[i-2][j-2])
				}
			}
		}
	}
	return rows[len(a)][len(b)]
}
