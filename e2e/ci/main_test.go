// Package ci tests what the project offers to the CI of others: the GitHub action, and the
// examples of docs/ci.md.
package ci

import (
	"os"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

func TestMain(m *testing.M) {
	os.Exit(plantstore.Main(m))
}
