// Package attack attacks the real binary: as a client with or without a token, as another user of
// the machine, as a hostile peer, and with hostile files. SECURITY.md lists the attacks.
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
