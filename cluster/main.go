// Plantstore-cluster is plantstore for several machines. It has the same commands, and keeps plants
// in a file, in etcd or in PostgreSQL.
package main

import (
	"context"
	"os"

	"plantstore/cluster/etcd"
	"plantstore/cluster/postgres"
	"plantstore/internal/cli"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

func main() {
	os.Exit(cli.Main(context.Background(), cli.Process{
		Name:           "plantstore-cluster",
		Args:           os.Args,
		Environ:        os.Environ(),
		Stdin:          os.Stdin,
		Stdout:         os.Stdout,
		Stderr:         os.Stderr,
		Engines:        storage.Engines{"bbolt": bbolt.Open, "etcd": etcd.Open, "postgres": postgres.Open, "postgresql": postgres.Open},
		StorageOptions: storageOptions(),
	}))
}
