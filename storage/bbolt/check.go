package bbolt

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage"
)

// Check reads the store in a file as [storage.Store.Check] does. It returns the number of plants,
// or a *CorruptStoreError if the store is not intact.
func Check(ctx context.Context, file *os.File) (plants int64, err error) {
	e, err := open(ctx, file.Name(), storage.Options{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	report, err := e.Check(ctx)
	if err == nil && !report.Intact() {
		err = &CorruptStoreError{report}
	}
	return report.Plants, errors.Join(err, e.Close())
}

// Check implements [storage.FileEngine]. The store must be open for reading: commits free and reuse
// pages. It ends with ctx; the store is unusable then.
func (e *Engine) Check(ctx context.Context) (storage.Report, error) { return e.checkFile(ctx, e.file) }

// checkFile is Check with these pages. A read that hangs, and bbolt's check, are left to run until
// the process ends, and keep the database open for so long.
func (e *Engine) checkFile(ctx context.Context, file io.ReaderAt) (storage.Report, error) {
	c := &checker{Engine: e, ctx: ctx, report: storage.Report{Corruption: []string{}}}
	done := make(chan error, 1)
	go func() { done <- c.run(file) }()
	select {
	case err := <-done:
		return c.report, err
	case <-ctx.Done():
		e.failStop.Stop(ctx.Err())
		return storage.Report{}, ctx.Err()
	}
}

// A checker checks a store. The pages are bounded by the file (see pageCheck); the records and
// bbolt's check, which trust them, by the pages.
type checker struct {
	*Engine

	ctx    context.Context //nolint:containedctx // of one call
	report storage.Report
}

// run adds the findings to the report. A corrupt page ends the check, a corrupt record does not.
func (c *checker) run(file io.ReaderAt) error {
	return c.transaction(false, func(tx *bolt.Tx) error {
		if newest, _ := newestMeta(file); !bothMetas(file, newest) {
			c.report.Add("a meta page is corrupt: the last commit may be missing")
		}
		if err := newPageCheck(file, c.ctx.Err).all(); err != nil {
			c.report.Add("%v", err)
			return c.ctx.Err()
		}
		if err := c.records(tx.Bucket([]byte(plantsBucket))); err != nil || !c.report.Intact() {
			return err
		}
		for finding := range tx.Check() { // bbolt's own panics are findings like any other
			c.report.Add("structure: %s", strings.TrimPrefix(finding.Error(), "panic: "))
		}
		return nil
	})
}

// records checks each record, and counts the plants.
func (c *checker) records(plants *bolt.Bucket) error {
	stored, cursor := uint64(0), plants.Cursor()
	for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		stored++
		if _, err := decode(key, value); err != nil {
			c.report.Add("%v", err)
			continue
		}
		c.report.Plants++
	}
	if want := plants.Sequence(); want != stored {
		c.report.Add("the database should have %d plants, and has %d", want, stored)
	}
	return nil
}
