package bbolt

import (
	"context"
	"fmt"
	"strings"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage"
)

// Check is [storage.Store.Check]: a walk through all pages of the file and every
// record in them, and then bbolt's own check of the structure. That one follows
// whatever a page says, out of the file and in circles, and so is left to files
// in which the walk has found nothing. It also takes pages which a commit has just
// given back for damage, and so is left to files that nobody writes to.
func (s *Store) Check(ctx context.Context, each func(storage.Record) error) (storage.Report, error) {
	report := storage.Report{Damage: []string{}}
	tx, err := s.db.Begin(false)
	if err != nil {
		return report, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	defer func() {
		if !s.abandoned.Load() {
			_ = tx.Rollback() // it fails if there is nothing to end
		}
	}()
	if err := s.walk(ctx, tx, &report, each); err != nil {
		return report, err
	}
	if s.writable() {
		return report, nil
	}
	if err := s.checkMark(&report); err != nil || !report.Whole() {
		return report, err
	}
	return report, s.checkStructure(ctx, tx, &report)
}

// checkMark adds the commits that the file has lost, or a note that a torn mark
// cannot tell.
func (s *Store) checkMark(report *storage.Report) error {
	newest, _ := newestMeta(s.file) // there is one, or the file would not be open
	marked, torn, err := readMark(s.file.Name(), s.id)
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
func (s *Store) checkStructure(ctx context.Context, tx *bolt.Tx, report *storage.Report) error {
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
			s.abandoned.Store(true)
			return ctx.Err()
		}
	}
}
