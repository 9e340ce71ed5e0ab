package plantstore

import "os"

// Torture returns long with TORTURE=1 in the environment, else short.
func Torture(short, long int) int {
	if os.Getenv("TORTURE") == "1" {
		return long
	}
	return short
}
