// Package crash tests the store after a kernel crash, after a kill, and with corrupt files.
//
// Set TORTURE=1 to run the tests for much longer, and SEED to change the random numbers.
package crash

import (
	"math/rand/v2"
	"os"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

// databaseFile is the path of the database, relative to the working directory of the server.
const databaseFile = "data/plants.db"

func TestMain(m *testing.M) {
	if code, done := runIsolated(); done {
		os.Exit(code)
	}
	os.Exit(plantstore.Main(m))
}

// newRandom returns the random numbers of the test, the same in each run.
func newRandom(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(plantstore.Seed(t), 0))
}
