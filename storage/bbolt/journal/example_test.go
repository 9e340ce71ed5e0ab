package journal_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"plantstore/storage/bbolt/journal"
)

// Example appends records, and applies them to a database at a checkpoint.
func Example() {
	if err := example(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// fern true
	// 1 oak
	// 2 fern
	// 1 []
}

func example() error {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file, err := os.Create(filepath.Join(dir, "plants.db.journal"))
	if err != nil {
		return err
	}
	salt, err := journal.Format(file, journal.MinSize)
	if err != nil {
		return err
	}
	state := journal.State{Salt: salt}
	j, err := journal.Open(file, state)
	if err != nil {
		return err
	}
	defer func() { _ = j.Close() }()

	err = j.Append([]journal.Record{{ID: 2, Value: []byte("fern")}, {ID: 1, Value: []byte("oak")}})
	if err != nil {
		return err
	}
	value, found := j.Get(2)
	fmt.Printf("%s %t\n", value, found)

	j.Freeze()
	for part := range j.Checkpoint(state, 512) {
		for _, r := range part.Records { // put these into the database,
			fmt.Printf("%d %s\n", r.ID, r.Value)
		}
		state = part.State // and this in the same transaction
	}
	fmt.Println(state.Applied, j.Pending(math.MinInt64))
	return nil
}
