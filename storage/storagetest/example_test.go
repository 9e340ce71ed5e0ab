package storagetest_test

import (
	"context"
	"fmt"
	"testing"

	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/storagetest"
)

// ExampleRun runs the suite on an engine. The suite calls fresh for each of its tests, and opens
// the returned location several times: plants must be kept from one store to the next.
func ExampleRun() {
	fresh := func(testing.TB) storagetest.Open {
		disk := &disk{plants: map[int64]models.Plant{}}
		return func() (storagetest.Store, error) {
			return storage.New(&memory{disk: disk}, storage.Features{}, storage.Options{}), nil
		}
	}
	// TestStore is all that an engine needs.
	_ = func(t *testing.T) { storagetest.Run(t, fresh) }

	open := fresh(nil)
	for range 2 {
		store, err := open()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(store.Create(context.Background(), 7, models.Plant{Name: "Monstera"}))
		if err := store.Close(); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// <nil>
	// the id is taken by an identical plant
}
