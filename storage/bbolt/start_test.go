package bbolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"plantstore/models"
	"plantstore/storage"
)

// bigFile is a number of plants that fills many pages.
const bigFile = 3000

func bigBatch() (batch []storage.Item) {
	for id := range int64(bigFile) {
		batch = append(batch, storage.Item{Record: storage.Record{ID: id, Plant: models.Plant{Name: fmt.Sprint("fern ", id)}}})
	}
	return batch
}

// newBigFile returns the path of a store with bigFile plants.
func newBigFile(t *testing.T) string {
	t.Helper()
	path := newPath(t)
	s := mustOpen(t, path)
	for batch := range slices.Chunk(bigBatch(), 100) { // one commit each: the same pages in each run
		if err := s.Commit(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// corruptRecord changes the name of one plant of newBigFile, in all copies of its
// record: pages that are free may hold older ones.
func corruptRecord(t *testing.T, path string) {
	t.Helper()
	contents := bytes.ReplaceAll(snapshot(t, path), []byte(`"fern 1234"`), []byte(`"worn 1234"`))
	if err := os.WriteFile(path, contents, filePerm); err != nil {
		t.Fatal(err)
	}
}

// corruptMeta corrupts the newest meta page of a file, or the one before it.
func corruptMeta(t *testing.T, path string, newest bool) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	m, found := newestMeta(file)
	if !found {
		t.Fatal("no meta page")
	}
	page := int64(m.Txid % 2)
	if !newest {
		page = 1 - page
	}
	if _, err := file.WriteAt([]byte{0xff}, page*int64(m.PageSize)+metaStart+48 /* Txid */); err != nil {
		t.Fatal(err)
	}
}

// TestLostCommitIsReported checks that without its newest meta page bbolt opens the state before
// the last commit, without an error. The watermark reveals that, also to those that only read.
func TestLostCommitIsReported(t *testing.T) {
	t.Parallel()
	path := newFile(t, 3)
	corruptMeta(t, path, true)
	for _, readOnly := range []bool{false, true} {
		_, err := openStore(storage.Options{ReadOnly: readOnly}, path)
		if err == nil || !strings.Contains(err.Error(), "has lost its last 1 commit:") || strings.Contains(err.Error(), "\n") {
			t.Fatalf("Open, for reading only: %t: %v", readOnly, err)
		}
	}
	if report := check(t, path); len(report.Corruption) != 1 || !strings.Contains(report.Corruption[0], "has lost its last 1 commit:") {
		t.Errorf("Check: %+v", report)
	}
	if err := os.Remove(path + watermarkSuffix); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, path) // the remedy of the error
}

func TestOlderMetaPageCorrupt(t *testing.T) {
	t.Parallel()
	path := newFile(t, 3)
	corruptMeta(t, path, false)
	s := mustOpen(t, path)
	if err := s.Create(t.Context(), 100, models.Plant{Name: "a"}); err != nil {
		t.Error(err)
	}
}

// TestWatermarkRaisesNoFalseAlarm checks that a watermark that is older, torn, or of another
// database causes no error. A torn one is logged.
func TestWatermarkRaisesNoFalseAlarm(t *testing.T) {
	t.Parallel()
	other := newFile(t, 50)
	otherMark, err := os.ReadFile(other + watermarkSuffix)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change   func(watermark []byte) []byte
		warnings int // how often a torn watermark is logged
	}{
		"behind":  {func(watermark []byte) []byte { return encodeWatermark(strings.Fields(string(watermark))[3][:32], 1) }, 0},
		"torn":    {func(watermark []byte) []byte { return bytes.Replace(watermark, []byte("0"), []byte("1"), 1) }, 1},
		"short":   {func(watermark []byte) []byte { return watermark[:20] }, 1},
		"empty":   {func([]byte) []byte { return nil }, 1},
		"foreign": {func([]byte) []byte { return garbage(100) }, 1},
		"another": {func([]byte) []byte { return otherMark }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newFile(t, 3)
			watermark, err := os.ReadFile(path + watermarkSuffix)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path+watermarkSuffix, test.change(watermark), 0o600); err != nil {
				t.Fatal(err)
			}
			if report := check(t, path); !report.Intact() || len(report.Notes) != test.warnings {
				t.Errorf("Check: %+v, want %d notes", report, test.warnings)
			}
			var log bytes.Buffer
			s, err := OpenEngine(path, storage.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Count(log.String(), "level=WARN") != test.warnings || strings.Count(log.String(), "watermark torn") != test.warnings {
				t.Errorf("the log is %q, want %d warnings", &log, test.warnings)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if again, err := os.ReadFile(path + watermarkSuffix); err != nil || string(again) != string(watermark) {
				t.Errorf("the watermark is now %q, %v; want %q", again, err, watermark)
			}
		})
	}
}

// TestResyncMetaRewrites checks that the meta pages are rewritten unchanged at each start.
func TestResyncMetaRewrites(t *testing.T) {
	t.Parallel()
	path := newFile(t, 3)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	m, _ := newestMeta(file)
	if err := resyncMeta(file, int64(m.PageSize)); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file has changed, %v", err)
	}
	readOnly, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = readOnly.Close() }()
	if err := resyncMeta(readOnly, int64(m.PageSize)); !errors.Is(err, fs.ErrPermission) && !strings.Contains(fmt.Sprint(err), "bad file descriptor") {
		t.Errorf("a page that cannot be written: %v", err)
	}
}

// TestReadBeyondTheEnd checks that a missing page of the mapped file is an error, and does not
// crash the process.
func TestReadBeyondTheEnd(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not cut a mapped file")
	}
	path := newBigFile(t)
	s := mustOpen(t, path)
	if err := os.Truncate(path, 8192); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), 1); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("Get: %v", err)
	}
	for _, err := range s.List(t.Context(), math.MinInt64) {
		if err == nil {
			t.Fatal("a record was read")
		}
	}
}

func TestOpenReadOnly(t *testing.T) {
	t.Parallel()
	path := newFile(t, 3)
	before := snapshot(t, path)
	s, err := openStore(storage.Options{ReadOnly: true}, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Create(context.Background(), 100, models.Plant{}); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("Create: %v", err)
	}
	if err := s.Ready(); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("Ready: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if string(snapshot(t, path)) != string(before) {
		t.Error("the file has changed")
	}
	if _, err := openStore(storage.Options{ReadOnly: true}, newPath(t)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no file: %v", err)
	}
}
