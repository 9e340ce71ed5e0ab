package e2e

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

func TestMain(m *testing.M) {
	// Each operation crosses a network and is synced, so fewer of them are enough.
	if err := flag.Set("rapid.checks", fmt.Sprint(plantstore.Torture(10, 100))); err != nil {
		panic(err)
	}
	os.Exit(plantstore.MainOf(m, "cluster"))
}
