package bbolt

import (
	"fmt"

	"plantstore/storage"
)

// A refusalError is the reason why a file cannot be opened, with a remedy. It follows the
// name of the file.
type refusalError struct {
	text    string
	corrupt bool // it is a corrupt plant store, or not a plant store
}

func (e refusalError) Error() string { return e.text }

func refusal(format string, args ...any) error {
	return refusalError{text: fmt.Sprintf(format, args...)}
}

// corrupt returns a refusal of a corrupt store.
func corrupt(format string, args ...any) error {
	return refusalError{text: fmt.Sprintf(format, args...), corrupt: true}
}

// A CorruptStoreError is returned by a function that refuses to use or to replace a corrupt
// store.
type CorruptStoreError struct {
	Report storage.Report // with at least one finding
}

// Error returns the first finding.
func (e *CorruptStoreError) Error() string { return e.Report.Corruption[0] }
