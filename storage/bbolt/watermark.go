package bbolt

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"

	"plantstore/internal/files"
)

// The watermark is a small file next to the database with the number of the last committed
// transaction: if the newest meta page is corrupt, bbolt silently falls back to the one before. It
// is written after each commit to the tree and synced when the store is closed. After a power
// failure it may be older than the database. It is newer only if the database has lost a commit.

// startWatermark compares the database with its watermark, and opens or creates the
// watermark. It truncates a longer file.
func (e *Engine) startWatermark() error {
	path := WatermarkPath(e.path)
	torn, err := e.verifyWatermark()
	if err != nil {
		return err
	}
	if torn != nil {
		e.logger.Warn("watermark torn: lost commits cannot be detected this time", "path", path)
	}
	e.watermark, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|files.NoFollow, filePerm) //nolint:gosec // next to the database
	if err == nil {
		err = e.watermark.Truncate(int64(len(encodeWatermark(e.id, 0))))
	}
	if err != nil {
		return fmt.Errorf("its watermark: %w", err)
	}
	newest, _ := newestMeta(e.file)
	e.setWatermark(newest.Txid)
	return nil
}

// errTorn is returned for a watermark that is not intact, as a power failure may leave it.
var errTorn = errors.New("its watermark is torn, as after a power failure: lost commits cannot be detected this time")

// readWatermark returns the content of the watermark of the database path. The error matches
// [fs.ErrNotExist] if there is none, and errTorn if it is not intact.
func readWatermark(path string) (id string, txid uint64, err error) {
	file, err := openExisting(WatermarkPath(path), os.O_RDONLY|files.NoFollow, 0)
	if errors.As(err, new(refusalError)) {
		return "", 0, refusal("has a watermark %s that is not a regular file: remove it", WatermarkPath(path))
	}
	if err != nil {
		return "", 0, fmt.Errorf("its watermark: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(file, 1024)) // a watermark is shorter
	if err = errors.Join(err, file.Close()); err != nil {
		return "", 0, fmt.Errorf("its watermark: %w", err)
	}
	_, err = fmt.Sscanf(string(text), "plantstore mark of %32s: %d", &id, &txid)
	if err != nil || string(text) != string(encodeWatermark(id, txid)) {
		return "", 0, errTorn
	}
	return id, txid, nil
}

// encodeWatermark returns the content of a watermark. Its length is constant: a write
// replaces the previous content completely.
func encodeWatermark(id string, txid uint64) []byte {
	line := fmt.Appendf(make([]byte, 0, 128), "plantstore mark of %s: %020d", id, txid)
	return fmt.Appendf(line, " %08x\n", crc32.Checksum(line, crc32.MakeTable(crc32.Castagnoli)))
}

// setWatermark stores that transaction txid is committed. If that fails the watermark is
// older than the database, which is harmless.
func (e *Engine) setWatermark(txid uint64) {
	_, _ = e.watermark.WriteAt(encodeWatermark(e.id, txid), 0)
}

// verifyWatermark returns a refusal if the database lacks commits of its watermark. torn is errTorn
// if that is unknown. The watermark of another database, as before a restore, is ignored.
func (e *Engine) verifyWatermark() (torn, err error) {
	path := e.path
	newest, _ := newestMeta(e.file) // there is one, or the file would not be open
	id, txid, err := readWatermark(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, errTorn):
		return err, nil
	case err != nil || id != e.id || txid <= newest.Txid:
		return nil, err
	}
	return nil, corrupt("has lost its last %s: it is corrupt, or was replaced by an older copy; "+
		"restore a backup, or, to continue with the plants that are left, remove %s", counted(txid-newest.Txid, "commit"), WatermarkPath(path))
}

// refuseOrphan returns an error if the database path is missing, but its watermark or
// journal is there. These are created after the database is durable, so that no crash
// leaves them alone. A watermark of a database without plants is ignored.
func refuseOrphan(path string) error {
	if exists(JournalPath(path)) {
		return refusal("is missing, although its journal %s is there: put the database back, or, to restore a backup or to start with an empty store, "+
			"move %[1]s and %s away", JournalPath(path), WatermarkPath(path))
	}
	_, txid, err := readWatermark(path)
	had := "is there"
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && txid <= firstTxid:
		return nil
	case err == nil:
		had = "has " + counted(txid-firstTxid, "commit")
	case !errors.Is(err, errTorn):
		return err
	}
	return refusal("is missing, although its watermark %s %s: put the database back, restore a backup, or, to start with an empty store, move the watermark away",
		WatermarkPath(path), had)
}

// counted returns a number with a noun.
func counted(n uint64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
