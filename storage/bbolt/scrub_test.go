package bbolt

import (
	"log/slog"
	"strings"
	"testing"

	"plantstore/storage"
)

// lines is a writer that sends each write to a channel.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// openCorrupt opens a big file of which one record is corrupt, and returns the lines
// of its log, too.
func openCorrupt(t *testing.T) (*testStore, lines) {
	t.Helper()
	path := newBigFile(t)
	corruptRecord(t, path)
	log := make(lines, 10)
	s, err := openStore(storage.Options{Logger: slog.New(slog.NewTextHandler(log, nil))}, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, log
}

// TestScrub checks that the scrub finds a corrupt record, and counts the others.
func TestScrub(t *testing.T) {
	t.Parallel()
	s, log := openCorrupt(t)
	finding, done := <-log, <-log
	if !strings.Contains(finding, "level=ERROR") || !strings.Contains(finding, "wrong checksum") {
		t.Errorf("the scrub logs first: %s", finding)
	}
	if !strings.Contains(done, "plants=2999") || !strings.Contains(done, "corrupt=1") {
		t.Errorf("the scrub finally reports: %s", done)
	}
	if err := s.Ready(); err != nil {
		t.Errorf("Ready: %v", err)
	}
}
