package journal

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

const (
	magic   = "plantstore journal\n"
	version = 1

	// Block is the unit in bytes in which the file is laid out and written.
	Block = 4096

	saltLen      = 16
	fileSumAt    = len(magic) + 4 + 8 + saltLen // after the header
	fileHeadLen  = fileSumAt + 4
	payloadSumAt = 4 // of a batch; its header's own sum is at 0
	sequenceAt   = 8
	lengthAt     = 16
	countAt      = 20
	batchHeadLen = 24

	recordHeadLen = 8 + 4 // id and length
)

// MinSize and MaxSize bound the size of a journal in bytes.
const (
	MinSize = 128 << 10
	MaxSize = 128 << 20
)

// ErrCorrupt is returned for a file that is not a journal, or not intact.
var ErrCorrupt = errors.New("the journal is corrupt")

// A Salt identifies a journal.
type Salt [saltLen]byte

// A Record is a value under its id.
type Record struct {
	ID    int64
	Value []byte
}

// checksum returns the CRC-32C (Castagnoli) of salt and data.
func checksum(salt Salt, data []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(salt[:], table), table, data)
}

// A header is the beginning of the file. A checksum follows it. Its layout is the same in
// all versions, so that a corrupt version is not mistaken for a newer one.
type header struct {
	Magic   [len(magic)]byte
	Version uint32
	Half    uint64 // size of each half in bytes
	Salt    Salt
}

// encode returns the first block of the file.
func (h header) encode() []byte {
	b, _ := binary.Append(make([]byte, 0, Block), binary.LittleEndian, h) // its size is fixed
	return binary.LittleEndian.AppendUint32(b, checksum(Salt{}, b))[:Block]
}

// readHeader returns the header of a file that has as many bytes as it should.
func readHeader(file io.ReaderAt) (h header, err error) {
	b := make([]byte, fileHeadLen)
	if err := readAt(file, b, 0); err != nil {
		return header{}, err
	}
	_, _ = binary.Decode(b, binary.LittleEndian, &h) // its size is fixed
	switch {
	case string(h.Magic[:]) != magic:
		return header{}, fmt.Errorf("%w: it does not begin as a journal does", ErrCorrupt)
	case binary.LittleEndian.Uint32(b[fileSumAt:]) != checksum(Salt{}, b[:fileSumAt]):
		return header{}, fmt.Errorf("%w: wrong header", ErrCorrupt)
	case h.Version > version:
		return header{}, fmt.Errorf("the journal has version %d, and this plantstore supports versions up to %d: upgrade plantstore", h.Version, version)
	case h.Half%Block != 0 || h.Half == 0 || h.Half > MaxSize/2:
		return header{}, fmt.Errorf("%w: wrong header", ErrCorrupt)
	}
	return h, readAt(file, b[:1], h.size()-1)
}

// readAt is ReadAt of a file that should be longer.
func readAt(file io.ReaderAt, b []byte, at int64) error {
	_, err := file.ReadAt(b, at)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it is cut short", ErrCorrupt)
	}
	return err
}

// size returns the size of the file in bytes.
func (h header) size() int64 { return Block + 2*int64(h.Half) } //nolint:gosec // at most MaxSize

// ReadSalt returns the salt of the journal in file. The error matches [ErrCorrupt] if
// file is not a journal, its header is corrupt, or it is too short.
func ReadSalt(file io.ReaderAt) (Salt, error) {
	h, err := readHeader(file)
	return h.Salt, err
}

// IsJournal reports whether a file begins as a journal does, intact or not.
func IsJournal(file io.ReaderAt) bool {
	head := make([]byte, len(magic))
	_, err := file.ReadAt(head, 0)
	return err == nil && string(head) == magic
}

// FileSize returns the size in bytes of the file of a journal that [Format] makes with
// at most size bytes.
func FileSize(size int64) int64 { return Block + 2*halfSize(size) }

func halfSize(size int64) int64 { return (size - Block) / 2 &^ (Block - 1) }

// Format makes the empty file a journal of at most size bytes without batches, and
// returns its salt. It does not sync the file.
func Format(file *os.File, size int64) (Salt, error) {
	if size < MinSize || size > MaxSize {
		return Salt{}, fmt.Errorf("a journal has from %d to %d bytes, not %d", MinSize, MaxSize, size)
	}
	h := header{Magic: [len(magic)]byte([]byte(magic)), Version: version, Half: uint64(halfSize(size))} //nolint:gosec // not negative
	_, _ = rand.Read(h.Salt[:])                                                                         // never fails
	if _, err := file.WriteAt(h.encode(), 0); err != nil {
		return Salt{}, err
	}
	if _, err := WriteZeros(file, Block, h.size()-Block); err != nil {
		return Salt{}, err
	}
	return h.Salt, nil
}

// WriteZeros writes n zeros to file from offset on, and returns how many it has written. Blocks
// that are only reserved would not do: the first write to one changes metadata, which the sync
// after it has to wait for as well.
func WriteZeros(file io.WriterAt, offset, n int64) (written int64, err error) {
	zeros := make([]byte, min(n, 1<<20))
	for written < n && err == nil {
		var w int
		w, err = file.WriteAt(zeros[:min(n-written, int64(len(zeros)))], offset+written)
		written += int64(w)
	}
	return written, err
}

// Size returns the size in bytes of a batch of records in the file.
func Size(records []Record) int {
	n := batchHeadLen
	for _, r := range records {
		n += recordHeadLen + len(r.Value)
	}
	return roundUp(n)
}

func roundUp(n int) int { return (n + Block - 1) &^ (Block - 1) }

// A batch has the header fields of a batch, and where it was found in the file.
type batch struct {
	sequence uint64
	length   int // of the payload in bytes
	count    int // of records
	sum      uint32

	half    int    // in which half
	at      int64  // the offset in bytes there
	content []byte // of all its blocks
}

// encodeBatch writes a batch of records to b, which has the Size of them.
func encodeBatch(b []byte, salt Salt, sequence uint64, records []Record) {
	payload := b[batchHeadLen:batchHeadLen]
	for _, r := range records {
		payload = binary.LittleEndian.AppendUint64(payload, uint64(r.ID))         //nolint:gosec // the bits are meant
		payload = binary.LittleEndian.AppendUint32(payload, uint32(len(r.Value))) //nolint:gosec // less than a half
		payload = append(payload, r.Value...)
	}
	clear(b[batchHeadLen+len(payload):])
	binary.LittleEndian.PutUint64(b[sequenceAt:], sequence)
	binary.LittleEndian.PutUint32(b[lengthAt:], uint32(len(payload))) //nolint:gosec // less than a half
	binary.LittleEndian.PutUint32(b[countAt:], uint32(len(records)))  //nolint:gosec // less than the length
	binary.LittleEndian.PutUint32(b[payloadSumAt:], checksum(salt, payload))
	binary.LittleEndian.PutUint32(b, checksum(salt, b[payloadSumAt:batchHeadLen]))
}

// decodeHeader returns the batch whose header b is. It reports false if b is not a
// header, or the batch would have more than most bytes.
func decodeHeader(b []byte, salt Salt, most int64) (h batch, ok bool) {
	if binary.LittleEndian.Uint32(b) != checksum(salt, b[payloadSumAt:batchHeadLen]) {
		return batch{}, false
	}
	length := binary.LittleEndian.Uint32(b[lengthAt:])
	h = batch{
		sequence: binary.LittleEndian.Uint64(b[sequenceAt:]),
		length:   int(length),
		count:    int(binary.LittleEndian.Uint32(b[countAt:])),
		sum:      binary.LittleEndian.Uint32(b[payloadSumAt:]),
	}
	return h, int64(length) <= most-batchHeadLen
}

// payload returns the records of the batch as they are in the file.
func (b batch) payload() []byte { return b.content[batchHeadLen : batchHeadLen+b.length] }

// records returns the records of the batch, which share its memory. It reports false if they
// do not fit the payload.
func (b batch) records() (records []Record, ok bool) {
	left := b.payload()
	for range b.count {
		if len(left) < recordHeadLen {
			return nil, false
		}
		id, length := int64(binary.LittleEndian.Uint64(left)), binary.LittleEndian.Uint32(left[8:]) //nolint:gosec // the bits are meant
		if left = left[recordHeadLen:]; int64(length) > int64(len(left)) {
			return nil, false
		}
		records = append(records, Record{id, left[:length:length]})
		left = left[length:]
	}
	return records, len(left) == 0
}
