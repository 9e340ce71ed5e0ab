// Floor is a typical plant store without a store: it responds, and discards the plants. No
// server that stores plants can be expected to be faster.
package main

import (
	"log/slog"
	"os"

	"plantstore/e2e/bench/internal/typical"
)

func main() {
	err := typical.Serve(func(int64, typical.Plant) error { return nil })
	slog.New(slog.NewTextHandler(os.Stderr, nil)).Error("serve", "error", err)
	os.Exit(1)
}
