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
)

// markSuffix is put after the name of the database for that of its mark.
const markSuffix = ".mark"

// MarkPath returns where the mark of a database file is.
func MarkPath(database string) string { return database + markSuffix }

// A mark is a small file beside the database that says which transaction was
// committed last. bbolt falls back to the transaction before, without a word,
// if the newest meta page is damaged; the mark gives it away.
//
// It is written after each commit and synced only when the store is closed: it
// may be behind the database, after a power cut, but it is never ahead of it,
// unless the database has lost what was acknowledged.
type mark struct {
	file *os.File
	id   string // of the database
}

// markLine is the form of the file: the database's id, the number of the last
// transaction, and the CRC-32C of both. It is of the same length always, so that
// a write never leaves a rest of the one before.
const markLine = "plantstore mark of %s: %020d"

// openMark opens the mark of the database path with that id, or makes one. What a
// foreign file has beyond the length of a mark is cut off.
func openMark(path, id string) (*mark, error) {
	file, err := os.OpenFile(MarkPath(path), os.O_RDWR|os.O_CREATE, filePerm) //nolint:gosec // beside the database
	if err != nil {
		return nil, err
	}
	if err := file.Truncate(int64(len(encodeMark(id, 0)))); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &mark{file: file, id: id}, nil
}

// readMark returns what the mark of the database path says, or 0 if there is
// none of the database with that id, as after a restore. A mark that is torn, as a
// power cut may leave it, tells nothing either; that alone is no damage.
func readMark(path, id string) (txid uint64, torn bool, err error) {
	text, err := os.ReadFile(MarkPath(path)) //nolint:gosec // beside the database
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("its mark: %w", err)
	}
	of, txid, whole := parseMark(text)
	if !whole || of != id {
		return 0, !whole, nil
	}
	return txid, false, nil
}

// parseMark returns what a mark says, and whether it is whole.
func parseMark(text []byte) (id string, txid uint64, whole bool) {
	if _, err := fmt.Sscanf(string(text), "plantstore mark of %s %d", &id, &txid); err != nil {
		return "", 0, false
	}
	id = strings.TrimSuffix(id, ":")
	return id, txid, string(text) == string(encodeMark(id, txid))
}

// refuseOrphan returns a refusal if there is a mark of a database path that is
// not there: the mark is made after the database is durable, so that no crash
// leaves it alone. A database without plants is no loss.
func refuseOrphan(path string) error {
	text, err := os.ReadFile(MarkPath(path)) //nolint:gosec // beside the database
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("its mark: %w", err)
	}
	says := "lies beside it still"
	if _, txid, whole := parseMark(text); whole && txid <= firstTxid {
		return nil
	} else if whole {
		says = "says that it had " + counted(txid-firstTxid, "commit")
	}
	back := ""
	if kept := newestKept(path); kept != "" {
		back = fmt.Sprintf("rename %s, which a restore has kept, back, or ", kept)
	}
	return refusal("is missing, although its mark %s %s: %srestore a backup, or, to start with an empty store, remove the mark",
		MarkPath(path), says, back)
}

// newestKept returns the last of the files that [Restore] has kept beside the
// database path, or "".
func newestKept(path string) string {
	entries, _ := os.ReadDir(filepath.Dir(path)) // it is only a hint
	for _, entry := range slices.Backward(entries) {
		if strings.HasPrefix(entry.Name(), filepath.Base(path)+keptSuffix) {
			return filepath.Join(filepath.Dir(path), entry.Name())
		}
	}
	return ""
}

func encodeMark(id string, txid uint64) []byte {
	line := fmt.Appendf(make([]byte, 0, 128), markLine, id, txid)
	return fmt.Appendf(line, " %08x\n", crc32.Checksum(line, crc32.MakeTable(crc32.Castagnoli)))
}

// set notes that transaction txid is committed. If it cannot be written the mark
// stays behind, which raises no false alarm.
func (m *mark) set(txid uint64) {
	_, _ = m.file.WriteAt(encodeMark(m.id, txid), 0)
}

// close makes the mark durable.
func (m *mark) close() error {
	return errors.Join(m.file.Sync(), m.file.Close())
}
