// Naive is a typical plant store with bbolt, with a transaction for each request.
package main

import (
	"encoding/binary"
	"encoding/json"
	"log/slog"
	"os"

	bolt "go.etcd.io/bbolt"

	"plantstore/e2e/bench/internal/typical"
)

func main() {
	err := run()
	slog.New(slog.NewTextHandler(os.Stderr, nil)).Error("serve", "error", err)
	os.Exit(1)
}

func run() error {
	db, err := bolt.Open("plants.db", 0o600, nil)
	if err != nil {
		return err
	}
	name := []byte("plants")
	err = db.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(name)
		return err
	})
	if err != nil {
		return err
	}
	return typical.Serve(func(id int64, plant typical.Plant) error {
		return db.Update(func(tx *bolt.Tx) error { return put(tx.Bucket(name), id, plant) })
	})
}

func put(plants *bolt.Bucket, id int64, plant typical.Plant) error {
	key := binary.BigEndian.AppendUint64(nil, uint64(id))
	if plants.Get(key) != nil {
		return typical.ErrTaken
	}
	value, err := json.Marshal(plant)
	if err != nil {
		return err
	}
	return plants.Put(key, value)
}
