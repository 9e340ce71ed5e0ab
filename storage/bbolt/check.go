package bbolt

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strings"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage"
)

// Check implements [storage.Checker]. It runs fsck, and bbolt's own check of the structure
// if that finds nothing and the file is not being written to: bbolt's check follows page
// numbers without validating them, and reports pages that a commit has just freed as corrupt.
func (e *Engine) Check(ctx context.Context, each func(storage.Record) error) (storage.Report, error) {
	report := storage.Report{Corruption: []string{}}
	if e.journalErr != nil {
		report.Add("%v", e.journalErr)
	}
	ids, err := e.journal.IDs(math.MinInt64)
	pending, err2 := e.pendingRecords(ids)
	if err = cmp.Or(err, err2); err != nil {
		report.Add("the journal: %v", err)
	}
	merged := func(stored storage.Record) error {
		for len(pending) > 0 && pending[0].ID <= stored.ID {
			if pending[0].ID < stored.ID { // otherwise it was moved to the tree
				if err := report.Count(pending[0], each); err != nil {
					return err
				}
			}
			pending = pending[1:]
		}
		return report.Count(stored, each)
	}
	err = e.transaction(false, func(tx *bolt.Tx) error {
		if err := e.fsck(ctx, tx, &report, merged); err != nil {
			return err
		}
		for _, record := range pending {
			if err := report.Count(record, each); err != nil {
				return err
			}
		}
		if e.writable() {
			return nil
		}
		if err := e.checkWatermark(&report); err != nil || !report.Intact() {
			return err
		}
		return e.checkStructure(ctx, tx, &report)
	})
	return report, err
}

// checkWatermark adds a finding if the database has lost commits, or a note if that is unknown.
func (e *Engine) checkWatermark(report *storage.Report) error {
	torn, err := e.verifyWatermark()
	if torn != nil {
		report.Notes = append(report.Notes, torn.Error())
	}
	if errors.As(err, new(refusalError)) {
		report.Add("%v", explain(e.path, err))
		return nil
	}
	return err
}

// checkStructure adds the findings of bbolt's check. If ctx ends before the check does, it is
// left to run until the process ends, and keeps the file open for so long.
func (e *Engine) checkStructure(ctx context.Context, tx *bolt.Tx, report *storage.Report) error {
	findings := tx.Check()
	for {
		select {
		case finding, more := <-findings:
			if !more {
				return nil
			}
			// bbolt's own panics are findings like any other.
			report.Add("structure: %s", strings.TrimPrefix(finding.Error(), "panic: "))
		case <-ctx.Done():
			e.abandoned.Store(true)
			return ctx.Err()
		}
	}
}
