// Plantstore is a server for the OpenAPI Plant Store. It serves POST /plants exactly as described,
// from an embedded database.
package main

import (
	"context"
	"os"

	"plantstore/internal/cli"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

func main() {
	os.Exit(cli.Main(context.Background(), cli.Process{
		Name:    "plantstore",
		Args:    os.Args,
		Environ: os.Environ(),
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		Engines: storage.Engines{"bbolt": bbolt.Open},
	}))
}
