// Package operate tests what operators do with a server: signals, keys, terminals, the log, imports
// and resets.
package operate

import (
	"os"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

func TestMain(m *testing.M) { os.Exit(plantstore.Main(m)) }
