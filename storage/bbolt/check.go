package bbolt

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage"
)

// Check implements [storage.Engine]: a walk through all pages of the file and every
// record in them, and then bbolt's own check of the structure. That one follows
// whatever a page says, out of the file and in circles, and so is left to files
// in which the walk has found nothing. It also takes pages which a commit has just
// given back for damage, and so is left to files that nobody writes to.
func (e *Engine) Check(ctx context.Context, each func(storage.Record) error) (storage.Report, error) {
	report := storage.Report{Damage: []string{}}
	// The journal is read before the tree: a checkpoint moves records from one to
	// the other.
	if e.journalErr != nil {
		report.Add("%v", e.journalErr)
	}
	pending, err := e.pendingRecords(e.pendingIDs(math.MinInt64))
	if err != nil {
		report.Add("the journal: %v", err)
	}
	tx, err := e.begin(false)
	if err != nil {
		return report, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	defer func() {
		if !e.abandoned.Load() {
			_ = tx.Rollback() // it fails if there is nothing to end
		}
	}()
	m := merger{pending: pending, each: each}
	if err := cmp.Or(e.traverse(ctx, tx, &report, m.stored), m.rest()); err != nil {
		return report, err
	}
	report.Plants += m.count
	if e.writable() {
		return report, nil
	}
	if err := e.checkWatermark(&report); err != nil || !report.Whole() {
		return report, err
	}
	return report, e.checkStructure(ctx, tx, &report)
}

// A merger passes plants of the tree and of the journal on to each, in ascending order
// of id if those of the tree come so.
type merger struct {
	pending []storage.Record
	each    func(storage.Record) error // may be nil
	count   int64                      // of plants that are in the journal only
}

// stored passes on a plant of the tree, and the pending ones before it.
func (m *merger) stored(record storage.Record) error {
	for len(m.pending) > 0 && m.pending[0].ID < record.ID {
		if err := m.next(); err != nil {
			return err
		}
	}
	if len(m.pending) > 0 && m.pending[0].ID == record.ID {
		m.pending = m.pending[1:] // it was moved to the tree
	}
	if m.each == nil {
		return nil
	}
	return m.each(record)
}

// rest passes on what is still pending.
func (m *merger) rest() error {
	for len(m.pending) > 0 {
		if err := m.next(); err != nil {
			return err
		}
	}
	return nil
}

// next passes on the next pending plant.
func (m *merger) next() error {
	record := m.pending[0]
	m.pending = m.pending[1:]
	m.count++
	if m.each == nil {
		return nil
	}
	return m.each(record)
}

// checkWatermark adds the commits that the file has lost, or a note that a torn mark
// cannot tell.
func (e *Engine) checkWatermark(report *storage.Report) error {
	newest, _ := newestMeta(e.file) // there is one, or the file would not be open
	marked, torn, err := readWatermark(e.file.Name(), e.id)
	if err != nil {
		return err
	}
	if torn {
		report.Notes = append(report.Notes, "whether commits are lost cannot be found out: the mark is not whole, as after a power cut")
	}
	if marked > newest.txid {
		report.Add("it lacks its last %s: the newest meta page is damaged, "+
			"or an older copy was put in the place of the file", counted(marked-newest.txid, "commit"))
	}
	return nil
}

// counted returns a number of things.
func counted(n uint64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// checkStructure adds what bbolt finds. If ctx ends before the check does, it is
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
