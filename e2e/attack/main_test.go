// Package attack holds attacks on the real binary as tests: by clients with and
// without a token, by other users of the machine, by peers that lie, and by files.
// SECURITY.md lists them.
package attack

import (
	"os"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
)

// patience bounds every wait; it is far above the usual duration.
const patience = time.Minute

func TestMain(m *testing.M) {
	if dir := os.Getenv(swapEnv); dir != "" {
		os.Exit(swap(dir))
	}
	os.Exit(plantstore.Main(m))
}
