// Package crash tests the store after a crash of the kernel, after a kill of the server,
// and with corrupt files.
//
// With TORTURE=1 in the environment the tests take much longer. CRASH_SEED is a seed for other
// random numbers than the default ones.
package crash

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/reexec"
)

// databaseFile is the path of the database, relative to the working directory of the server.
const databaseFile = "data/plants.db"

func TestMain(m *testing.M) {
	plants := catalogue()
	if code, child := reexec.Main(func(path string) any { return inspect(path, plants) }); child {
		os.Exit(code)
	}
	if code, done := runIsolated(); done {
		os.Exit(code)
	}
	os.Exit(plantstore.Main(m))
}

// newRandom returns the random numbers of the test, the same in each run.
func newRandom(t testing.TB) *rand.Rand {
	t.Helper()
	seed := uint64(1)
	if text, set := os.LookupEnv("CRASH_SEED"); set {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("CRASH_SEED: %v", err)
		}
	}
	return rand.New(rand.NewPCG(seed, 0))
}
