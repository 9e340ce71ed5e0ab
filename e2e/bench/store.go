package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"plantstore/e2e/internal/wrk"
	"plantstore/models"
	"plantstore/storage/bbolt"
)

// A store is a database with plants in it, and how far its ids are used up.
type store struct {
	name   string
	order  string
	plants int64
	dir    string // the working folder of the server
	bytes  int64  // of the file when it was filled
	next   int64  // number of the next create
}

// fill makes a database with so many plants in dir. They go the way that all
// creates go, through the group commit of the engine, from many clients at once:
// the file is what a server leaves behind.
func fill(ctx context.Context, dir, order string, plants int64) (*store, error) {
	path := filepath.Join(dir, "data", "plants.db")
	db, err := bbolt.Open(path) //nolint:contextcheck // it is closed below
	if err != nil {
		return nil, err
	}
	if err := errors.Join(createAll(ctx, db, order, plants), db.Close()); err != nil {
		return nil, fmt.Errorf("fill %s: %w", path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%d %s ids stored", plants, order)
	return &store{name: name, order: order, plants: plants, dir: dir, bytes: info.Size(), next: plants}, nil
}

// createAll creates the first plants of an order.
func createAll(ctx context.Context, db *bbolt.Store, order string, plants int64) error {
	// Scattered ids need large batches, or they take for ever. How full they
	// leave the pages does not depend on it.
	clients := map[string]int{wrk.Ascending: 256, wrk.Scattered: 4096}[order]
	tag := "indoor"
	plant := models.Plant{Name: "Fern", Tag: &tag}
	var created atomic.Int64
	failures := make(chan error, clients)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for n := created.Add(1) - 1; n < plants; n = created.Add(1) - 1 {
				if err := db.Create(ctx, wrk.IDAt(order, n), plant); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(failures)
	return <-failures
}
