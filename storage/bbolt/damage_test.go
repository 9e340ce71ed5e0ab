package bbolt

import (
	"encoding/binary"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"plantstore/storage"
)

// Whoever reads a page that is damaged learns that, in other words than those in which
// bbolt panics, which the log has.
func TestReadDamagedPage(t *testing.T) {
	t.Parallel()
	original := newBigFile(t)
	for name, damage := range map[string]func(m *pageMap){
		"page id":        func(m *pageMap) { binary.NativeEndian.PutUint64(m.page(m.leaf), 12345) },
		"record outside": func(m *pageMap) { binary.NativeEndian.PutUint32(m.page(m.leaf)[pageHeader+leafValue:], 1<<31-1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := damagedFile(t, original, damage)
			s, err := openStore(storage.Options{ReadOnly: true}, path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			var said strings.Builder
			s.logger = slog.New(slog.NewTextHandler(&said, nil))
			want := "the stored record is damaged: a page of " + path + " is damaged, or cannot be read"
			for _, err := range s.List(t.Context(), 0) {
				if err != nil && (!errors.Is(err, storage.ErrCorrupt) || err.Error() != want) {
					t.Errorf("List: %v, want: %s", err, want)
				}
			}
			if _, err := s.Get(t.Context(), 0); err == nil || err.Error() != want {
				t.Errorf("Get: %v, want: %s", err, want)
			}
			if strings.Count(said.String(), "level=ERROR") != 2 || !strings.Contains(said.String(), " cause=") {
				t.Errorf("it logs %s", &said)
			}
		})
	}
}

// A key that doesn't follow the one before it ends a list: reading could begin again and
// again at the same key.
func TestListRefusesWrongOrder(t *testing.T) {
	t.Parallel()
	s, err := openStore(storage.Options{ReadOnly: true}, damagedFile(t, newBigFile(t), repeatRecord))
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
