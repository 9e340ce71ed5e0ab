// Package attack attacks the real binary: as a client with or without a token, as another user of
// the machine, as a hostile peer, and with hostile files. SECURITY.md lists the attacks.
package attack

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

// secret is the secret of some servers.
const secret = "a secret of these tests, long enough for HS256"

// swapEnv names the directory in which a process of the attacker swaps files.
const swapEnv = "ATTACK_SWAP"

func TestMain(m *testing.M) {
	if dir := os.Getenv(swapEnv); dir != "" {
		swap(dir)
		return
	}
	os.Exit(plantstore.Main(m))
}

// swap replaces each temporary file in dir by a link to the file that ATTACK_VICTIM names, until
// its standard input ends.
func swap(dir string) {
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	fmt.Println() //nolint:forbidigo // it reports that it runs
	for {
		select {
		case <-ended:
			return
		default:
		}
		names, _ := filepath.Glob(filepath.Join(dir, ".*.tmp"))
		for _, name := range names {
			if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
				_ = os.Rename(name, name+".was")
				_ = os.Symlink(os.Getenv("ATTACK_VICTIM"), name)
			}
		}
	}
}
