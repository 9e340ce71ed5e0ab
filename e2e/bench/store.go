package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"plantstore/e2e/internal/wrk"
	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// A store is a database with plants in it, and the position in its sequence of ids.
type store struct {
	order  string
	plants int64
	dir    string // the working directory of the server; empty before it is filled
	bytes  int64  // of the file when it was filled
	next   int64  // number of the next create
}

// name returns the name of the store.
func (s *store) name() string { return fmt.Sprintf("%d %s ids stored", s.plants, s.order) }

// data returns the directory in which the server has its data.
func (s *store) data() string { return filepath.Join(s.dir, "data") }

// fill creates the plants in a database in dir, through the group commit of the engine, so that
// the file has the same layout as with a server.
func (s *store) fill(ctx context.Context, dir string) error {
	filled := *s
	filled.dir, filled.next = dir, s.plants
	path := filepath.Join(filled.data(), "plants.db")
	db, err := bbolt.OpenFile(path, storage.Options{})
	if err != nil {
		return err
	}
	if err := errors.Join(createAll(ctx, db, s.order, s.plants), db.Close()); err != nil {
		return fmt.Errorf("fill %s: %w", path, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	filled.bytes = info.Size()
	*s = filled
	return nil
}

// copyTo returns a copy of a filled store in dir. It is synced, so that the kernel does not
// write it back while the copy is measured.
func (s *store) copyTo(dir string) (*store, error) {
	copied := *s
	copied.dir = dir
	if err := os.Mkdir(copied.data(), 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(s.data())
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		if err := copyFile(filepath.Join(copied.data(), entry.Name()), filepath.Join(s.data(), entry.Name())); err != nil {
			return nil, err
		}
	}
	return &copied, nil
}

// copyFile copies a file to a new file, and syncs it.
func copyFile(to, from string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // the file was only read
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Sync(), target.Close())
}

// chunk is how many plants are sorted by id before they are created. The plants of
// one page then come together, in a fraction of the time. A page of a large store
// still gets few of them at once: 69 % of the pages are in use in the end, as with
// one plant after the other.
const chunk = 1 << 18

// createAll creates the first plants of an order.
func createAll(ctx context.Context, db *storage.Store, order string, plants int64) error {
	tag := "indoor"
	plant := models.Plant{Name: "Fern", Tag: &tag}
	for first := int64(0); first < plants; first += chunk {
		records := make([]storage.Record, min(chunk, plants-first))
		for i := range records {
			records[i] = storage.Record{ID: wrk.IDAt(order, first+int64(i)), Plant: plant}
		}
		slices.SortFunc(records, func(a, b storage.Record) int { return cmp.Compare(a.ID, b.ID) })
		if err := errors.Join(db.CreateAll(ctx, records)...); err != nil {
			return err
		}
	}
	return nil
}
