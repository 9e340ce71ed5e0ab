// Package browser tests the service from a browser: the docs page, plantstore plants browse, and
// pages of other origins.
package browser

import (
	"os"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

func TestMain(m *testing.M) {
	os.Exit(plantstore.Main(m))
}
