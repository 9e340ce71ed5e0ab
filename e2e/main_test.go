// Package e2e holds the tests that run the real binary: with its real clients,
// over real connections, killed for real.
package e2e

import (
	"os"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

func TestMain(m *testing.M) {
	os.Exit(plantstore.Main(m))
}
