// Package e2e tests the real binary with real clients over real connections, and kills it.
package e2e

import (
	"os"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

func TestMain(m *testing.M) {
	os.Exit(plantstore.Main(m))
}
