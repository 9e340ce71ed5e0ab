package config

import "strings"

// Near reports whether a name may be a misspelling of another one: the other one begins with it, or
// up to two letters of it differ, but at most half of them.
func Near(given, name string) bool {
	return len(given) > 2 && strings.HasPrefix(name, given) || distance(given, name) <= min(2, len(given)/2)
}

// distance returns how many letters must be inserted, deleted or replaced to get b from a.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // the distances of the first letters of a from those of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		replaced := row[0]
		row[0] = i + 1
		for j := range len(b) {
			if a[i] != b[j] {
				replaced++
			}
			above := row[j+1]
			row[j+1] = min(replaced, above+1, row[j]+1)
			replaced = above
		}
	}
	return row[len(b)]
}
