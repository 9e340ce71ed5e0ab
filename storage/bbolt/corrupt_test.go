package bbolt

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"plantstore/storage"
)

// TestListRefusesWrongOrder checks that a list ends at a key that does not follow the previous
// one: otherwise reading could restart at the same key forever.
func TestListRefusesWrongOrder(t *testing.T) {
	t.Parallel()
	s, err := openStore(storage.Options{ReadOnly: true}, corruptFile(t, newBigFile(t), repeatRecord))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	n := 0
	for _, listErr := range s.List(t.Context(), 0) {
		n, err = n+1, listErr
	}
	if n != 2 || !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), "follows key") {
		t.Errorf("%d records, then %v", n, err)
	}
}

// TestCorruptInlineBucket opens databases in which a number of the inline bucket meta is wrong,
// which bbolt would use as a length: none of them opens or grows.
func TestCorruptInlineBucket(t *testing.T) {
	t.Parallel()
	path := newFile(t, 1)
	intact, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	keys := bytes.Index(intact, []byte("id")) // after the elements, of id and of schema
	for at := -2 * elementLen; at < 0; at++ {
		if at&(elementLen-1) < leafPos {
			continue // flags, of which one bit has a meaning
		}
		file := bytes.Clone(intact)
		for i := range file { // each version of the bucket
			if bytes.HasPrefix(intact[i:], intact[keys-2*elementLen:keys+2]) {
				file[i+2*elementLen+at] ^= 0x41
			}
		}
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := openStore(storage.Options{}, path)
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "corrupt") || len(err.Error()) > 1000 {
			t.Errorf("byte %d: %.1000v, want that the database is corrupt", at, err)
		}
	}
}
