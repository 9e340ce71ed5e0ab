package attack

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// swapEnv names the directory in which a process of the attacker swaps files.
const swapEnv = "ATTACK_SWAP"

// swap replaces each temporary file in dir by a link to the file that ATTACK_VICTIM names. It
// exits when its standard input ends.
func swap(dir string) int {
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	fmt.Println() //nolint:forbidigo // it reports that it runs
	victim := os.Getenv("ATTACK_VICTIM")
	for {
		select {
		case <-ended:
			return 0
		default:
		}
		names, _ := filepath.Glob(filepath.Join(dir, ".*.tmp"))
		for _, name := range names {
			if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
				_ = os.Rename(name, name+".was")
				_ = os.Symlink(victim, name)
			}
		}
	}
}
