package admin

import (
	"errors"
	"fmt"

	"plantstore/storage"
)

// leastFree is the minimum number of free bytes of the file system: the database grows by up to
// 16 MiB at a time.
const leastFree = 64 << 20

// A problem is a reason why plants cannot be created, or soon cannot be created.
type problem struct {
	what   string
	detail string // changes while the problem stays the same
}

// problems returns all of them.
func (a *admin) problems() (problems []problem) {
	add := func(what string) { problems = append(problems, problem{what: what}) }
	if a.Draining.Err() != nil {
		add("the server is shutting down")
	}
	switch err := a.Store.Ready(); {
	case stopped(a.Store):
		add("the store has stopped itself after a fault, and the server ends: see the log")
	case errors.Is(err, storage.ErrCommitHangs):
		add("a commit does not end: the disk of the plants, or the database, hangs")
	case errors.Is(err, storage.ErrFailing):
		add("the last commit has failed: see the log")
	case err != nil:
		add("the store is not available: see the log")
	}
	return append(problems, diskProblems(a.Store.Stats().File)...)
}

func diskProblems(file *storage.FileStats) (problems []problem) {
	if file == nil {
		return nil
	}
	if file.ReadOnly {
		problems = append(problems, problem{what: "the file system of the plants is mounted read-only"})
	}
	if file.Free >= 0 && file.Free < leastFree {
		problems = append(problems, problem{
			"the file system of the plants is nearly full: free some space",
			fmt.Sprintf(", it has %d bytes left and should have %d", file.Free, int64(leastFree)),
		})
	}
	return problems
}

func stopped(store Store) bool {
	select {
	case <-store.Stopped():
		return true
	default:
		return false
	}
}
