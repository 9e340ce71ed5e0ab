// Package durability tests that no plant is lost when the power fails, the disk fails or the disk
// is full. The real program runs on a file system that simulates these faults. The tests then open
// thousands of file systems as a power failure may leave them.
//
// Set TORTURE=1 to run the tests for much longer, and SEED to change the random numbers.
package durability

import (
	"os"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/reexec"
)

func TestMain(m *testing.M) {
	if code, child := reexec.Main(func(path string) any { return open(path) }); child {
		os.Exit(code)
	}
	os.Exit(plantstore.Main(m))
}
