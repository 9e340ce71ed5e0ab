package bbolt

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plantstore/internal/atomicfile"
)

// watermarkSuffix is appended to the name of the database.
const watermarkSuffix = ".mark"

// WatermarkPath returns the path of the watermark of a database file.
func WatermarkPath(database string) string { return database + watermarkSuffix }

// A watermark is a small file next to the database with the number of the last
// committed transaction. If the newest meta page is corrupt, bbolt falls back to the
// transaction before without an error; the watermark reveals that.
//
// It is written after each commit to the tree and synced when the store is closed. After
// a power failure it may be behind the database. It is ahead of it only if the database
// has lost a commit.
type watermark struct {
	file *os.File
	id   string // of the database
}

// watermarkLine is the format of the file: the id of the database and the number of the
// last transaction, followed by the CRC-32C of both. Its length is constant, so that a
// write leaves nothing of the one before.
const watermarkLine = "plantstore mark of %s: %020d"

// openWatermark opens or creates the watermark of the database path with that id. A
// longer file is truncated.
func openWatermark(path, id string) (*watermark, error) {
	file, err := atomicfile.OpenFile(WatermarkPath(path), os.O_RDWR|os.O_CREATE, filePerm)
	if err != nil {
		return nil, err
	}
	if err := file.Truncate(int64(len(encodeWatermark(id, 0)))); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &watermark{file: file, id: id}, nil
}

// readWatermark returns the transaction in the watermark of the database path. It is 0 if
// there is none for the database with that id, as after a restore, or if it is torn, as
// a power failure may leave it, which alone is not corruption.
func readWatermark(path, id string) (txid uint64, torn bool, err error) {
	text, err := os.ReadFile(WatermarkPath(path)) //nolint:gosec // beside the database
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("its mark: %w", err)
	}
	of, txid, whole := parseWatermark(text)
	if !whole || of != id {
		return 0, !whole, nil
	}
	return txid, false, nil
}

// parseWatermark parses the content of a watermark, and reports whether it is intact.
func parseWatermark(text []byte) (id string, txid uint64, whole bool) {
	if _, err := fmt.Sscanf(string(text), "plantstore mark of %s %d", &id, &txid); err != nil {
		return "", 0, false
	}
	id = strings.TrimSuffix(id, ":")
	return id, txid, string(text) == string(encodeWatermark(id, txid))
}

// refuseOrphan returns an error if the database path is missing, but its watermark or
// journal is there. These are created after the database is durable, so that no crash
// leaves them alone. A watermark of a database without plants is ignored.
func refuseOrphan(path string) error {
	if exists(JournalPath(path)) {
		return refusal("is missing, although its journal %s lies beside it: restore a backup, or, to start with an empty store, remove the journal",
			JournalPath(path))
	}
	text, err := os.ReadFile(WatermarkPath(path)) //nolint:gosec // beside the database
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("its mark: %w", err)
	}
	says := "lies beside it still"
	if _, txid, whole := parseWatermark(text); whole && txid <= firstTxid {
		return nil
	} else if whole {
		says = "says that it had " + counted(txid-firstTxid, "commit")
	}
	back := ""
	if kept := newestKept(path); kept != "" {
		back = fmt.Sprintf("rename %s, which a restore has kept, back, or ", kept)
	}
	return refusal("is missing, although its mark %s %s: %srestore a backup, or, to start with an empty store, remove the mark",
		WatermarkPath(path), says, back)
}

// newestKept returns the newest file that [Restore] has kept next to the database path,
// or "".
func newestKept(path string) string {
	entries, _ := os.ReadDir(filepath.Dir(path)) // it is only a hint
	for _, entry := range slices.Backward(entries) {
		if strings.HasPrefix(entry.Name(), filepath.Base(path)+keptSuffix) {
			return filepath.Join(filepath.Dir(path), entry.Name())
		}
	}
	return ""
}

func encodeWatermark(id string, txid uint64) []byte {
	line := fmt.Appendf(make([]byte, 0, 128), watermarkLine, id, txid)
	return fmt.Appendf(line, " %08x\n", crc32.Checksum(line, crc32.MakeTable(crc32.Castagnoli)))
}

// set stores that transaction txid is committed. If that fails the watermark stays
// behind, which is harmless.
func (m *watermark) set(txid uint64) {
	_, _ = m.file.WriteAt(encodeWatermark(m.id, txid), 0)
}

// close makes the watermark durable.
func (m *watermark) close() error {
	return errors.Join(m.file.Sync(), m.file.Close())
}
