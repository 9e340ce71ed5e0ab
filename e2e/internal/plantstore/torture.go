package plantstore

import "os"

// Torture returns long in a long run, which TORTURE=1 in the environment asks for,
// else short.
func Torture(short, long int) int {
	if os.Getenv("TORTURE") == "1" {
		return long
	}
	return short
}
