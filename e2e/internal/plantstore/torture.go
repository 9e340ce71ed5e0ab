package plantstore

import (
	"os"
	"strconv"
	"testing"

	"plantstore/internal/must"
)

// Torture returns long with TORTURE=1 in the environment, else short.
func Torture(short, long int) int {
	if os.Getenv("TORTURE") == "1" {
		return long
	}
	return short
}

// Seed returns the seed of all random numbers of a run: SEED in the environment, else 1.
func Seed(t testing.TB) uint64 {
	t.Helper()
	text, set := os.LookupEnv("SEED")
	if !set {
		return 1
	}
	return must.Get(strconv.ParseUint(text, 10, 64))(t)
}
