// Package browser holds the tests that use the service from a browser: the docs
// page, and pages of other origins.
package browser

import (
	"os"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

func TestMain(m *testing.M) {
	os.Exit(plantstore.Main(m))
}
