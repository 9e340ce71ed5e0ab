package journal

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestChanged changes the file of an open journal: no record of it is applied, and it is not
// written again.
func TestChanged(t *testing.T) {
	t.Parallel()
	flip := func(at int) func(d *disk, before []byte) {
		return func(d *disk, _ []byte) { d.cache[Block+at] ^= 1 }
	}
	restore := func(from, to int) func(d *disk, before []byte) {
		return func(d *disk, before []byte) { copy(d.cache[from:to], before[from:to]) }
	}
	for name, change := range map[string]func(d *disk, before []byte){
		"header":              flip(sequenceAt),
		"length":              flip(batchHeadLen + 8),
		"value":               flip(batchHeadLen + recordHeadLen),
		"second batch":        flip(Block + sequenceAt),
		"first of last lap":   restore(Block, 2*Block),
		"second of last lap":  restore(2*Block, 3*Block),
		"both of last lap":    restore(Block, 3*Block),
		"an empty block":      func(d *disk, _ []byte) { clear(d.cache[2*Block : 3*Block]) },
		"a batch twice":       func(d *disk, _ []byte) { copy(d.cache[2*Block:3*Block], d.cache[Block:2*Block]) },
		"all of another size": restore(Block, 20*Block),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content, state := blank(20)
			d := diskOf(content)
			j := mustOpen(t, d, state)
			add := func(ids ...int64) {
				for _, id := range ids {
					if err := j.Append([]Record{{ID: id, Value: []byte("fern")}}); err != nil {
						t.Fatal(err)
					}
				}
			}
			add(0, 1)
			state = checkpoint(j, state)
			add(2, 3) // to the other half
			state = checkpoint(j, state)
			before := d.restarted().cache
			add(4, 5)
			change(d, before)
			if err := j.Rewrite(); !errors.Is(err, ErrCorrupt) {
				t.Errorf("Rewrite: %v", err)
			}
			j.Freeze()
			parts := 0
			for part, err := range j.Checkpoint(state, 10) {
				if parts++; len(part.Records) > 0 || !errors.Is(err, ErrCorrupt) {
					t.Errorf("Checkpoint: %+v, %v", part, err)
				}
			}
			if parts != 1 || !j.Frozen() || j.Stats().Records != 2 {
				t.Errorf("after %d parts: frozen %t, %+v", parts, j.Frozen(), j.Stats())
			}
		})
	}
}

// TestCutWhileOpen truncates the file of an open journal: its pages cannot be read.
func TestCutWhileOpen(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("on Windows the journal is copied, not mapped")
	}
	path := filepath.Join(t.TempDir(), "journal")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	salt, err := Format(file, MinSize)
	if err != nil {
		t.Fatal(err)
	}
	state := State{Salt: salt}
	j, err := Open(file, state)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	if err := j.Append([]Record{{ID: 7, Value: []byte("fern")}}); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, found, err := j.Get(7); found || err == nil {
		t.Errorf("Get: %t, %v", found, err)
	}
	if _, err := j.IDs(math.MinInt64); err == nil {
		t.Error("IDs found records in pages that cannot be read")
	}
	if err := j.Rewrite(); err == nil {
		t.Error("Rewrite wrote pages that cannot be read")
	}
	j.Freeze()
	for part, err := range j.Checkpoint(state, 10) {
		if !errors.Is(err, errUnreadable) {
			t.Errorf("Checkpoint: %+v, %v", part, err)
		}
	}
	if !j.Frozen() {
		t.Error("the half is free")
	}
}
