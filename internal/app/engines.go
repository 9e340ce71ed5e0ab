package app

import (
	"plantstore/storage"
	"plantstore/storage/bbolt"
	"plantstore/storage/etcd"
	"plantstore/storage/postgres"
)

// BboltScheme is the scheme of storage URLs of the embedded engine.
const BboltScheme = "bbolt"

// Engines returns the storage engines of this program by the scheme of their URLs.
func Engines() storage.Engines {
	return storage.Engines{
		BboltScheme: bbolt.Open,
		"etcd":      etcd.Open,
		"postgres":  postgres.Open, "postgresql": postgres.Open,
	}
}
