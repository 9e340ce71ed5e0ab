package journal

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

// TestChanged changes the file of an open journal: no record of it is applied.
func TestChanged(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]int{
		"header": sequenceAt, "length": batchHeadLen + 8, "value": batchHeadLen + recordHeadLen, "second batch": Block + sequenceAt,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content, state := blank(20)
			d := diskOf(content)
			j := mustOpen(t, d, state)
			for id := range int64(2) {
				if err := j.Append([]Record{{ID: id, Value: []byte("fern")}}); err != nil {
					t.Fatal(err)
				}
			}
			d.cache[Block+at] ^= 1
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
		t.Skip("Windows does not truncate an open file:", err)
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
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() == nil {
			t.Error("Checkpoint read pages that cannot be read")
		}
	}()
	for part, err := range j.Checkpoint(state, 10) {
		t.Errorf("Checkpoint: %+v, %v", part, err)
	}
}
