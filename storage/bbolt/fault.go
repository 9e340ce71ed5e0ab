package bbolt

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage"
)

// judge says what the failed commit of transaction txid has done, by what it
// has left in the file. If it surely did not happen, no plant is stored, and the
// next commit starts from the same state. Else nobody knows what will be on the
// disk after a restart, and going on could damage what is there: the store stops.
func (s *Store) judge(txid uint64, cause error) error {
	if s.mayHaveHappened(txid) {
		s.group.Stop(cause)
		return fmt.Errorf("%w: %w", storage.ErrUnknown, cause)
	}
	return s.failed(cause)
}

// mayHaveHappened reports whether a meta page is that of transaction txid, or not
// whole. The mapping is asked first: some file systems let a write fail and keep
// it in their cache until it is read again.
func (s *Store) mayHaveHappened(txid uint64) bool {
	var mapped uint64
	err := s.db.View(func(tx *bolt.Tx) error {
		mapped = uint64(tx.ID()) //nolint:gosec // bbolt has made an int of it
		return nil
	})
	if err != nil || mapped >= txid {
		return true
	}
	for page := range int64(2) {
		if m, ok := readMeta(s.file, page*s.pageSize); !ok || m.txid >= txid {
			return true
		}
	}
	return false
}

// failed returns the outcome of a commit that did not happen. The store goes
// on, if bbolt can.
func (s *Store) failed(cause error) error {
	if err := s.db.View(func(*bolt.Tx) error { return nil }); err != nil {
		s.group.Stop(errors.Join(cause, err))
	}
	if NoSpace(cause) {
		return fmt.Errorf("%w: %w", storage.ErrNoSpace, cause)
	}
	return fmt.Errorf("commit: %w", cause)
}

// NoSpace reports whether err says that the file could not grow: the file
// system is full, the quota used up, or the limit on the size of a file met.
// Some of bbolt's errors carry the system's words without the system's error.
func NoSpace(err error) bool {
	for _, full := range append(diskFull(), syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG) {
		if errors.Is(err, full) || strings.Contains(err.Error(), full.Error()) {
			return true
		}
	}
	return false
}
