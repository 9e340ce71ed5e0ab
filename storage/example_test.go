package storage_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

func Example() {
	if err := example(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// id 7 is taken, identical: false
	// -1 Ficus
	// 7 Monstera
}

func example(ctx context.Context) (err error) {
	directory, err := os.MkdirTemp("", "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()

	engines := storage.Engines{"bbolt": bbolt.Open}
	store, err := engines.Open(ctx, "bbolt:"+filepath.Join(directory, "plants.db"), storage.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()

	if err := store.Create(ctx, 7, models.Plant{Name: "Monstera"}); err != nil {
		return err
	}
	if err := store.Create(ctx, -1, models.Plant{Name: "Ficus"}); err != nil {
		return err
	}
	err = store.Create(ctx, 7, models.Plant{Name: "Fern"})
	if exists, ok := errors.AsType[*storage.ExistsError](err); ok {
		fmt.Println("id 7 is taken, identical:", exists.Identical)
	}
	for record, err := range store.List(ctx, math.MinInt64) {
		if err != nil {
			return err
		}
		fmt.Println(record.ID, record.Plant.Name)
	}
	return nil
}
