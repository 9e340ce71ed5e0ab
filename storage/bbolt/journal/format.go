package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
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

// Size returns the size in bytes of a batch of records in the file.
func Size(records []Record) int {
	n := batchHeadLen
	for _, r := range records {
		n += recordHeadLen + len(r.Value)
	}
	return roundUp(n)
}

func roundUp(n int) int { return (n + Block - 1) &^ (Block - 1) }

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

// readHeader returns the header of the file.
func readHeader(file io.ReaderAt) (h header, err error) {
	b := make([]byte, fileHeadLen)
	if _, err := file.ReadAt(b, 0); errors.Is(err, io.EOF) {
		return header{}, fmt.Errorf("%w: it is cut short", ErrCorrupt)
	} else if err != nil {
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
	return h, nil
}

// FileSize returns the size in bytes of the file of a journal that [Format] makes with
// at most size bytes.
func FileSize(size int64) int64 { return Block + 2*int64(halfSize(size)) }

func halfSize(size int64) int { return (int(size) - Block) / 2 &^ (Block - 1) }

// size returns the size of the file in bytes.
func (h header) size() int64 { return Block + 2*int64(h.Half) } //nolint:gosec // at most MaxSize

// A batch has the header fields of a batch in the file, and its position.
type batch struct {
	sequence uint64
	length   int // of the payload in bytes
	count    int // of records
	sum      uint32
	half, at int // which half, and the offset in bytes there
}

// end returns the offset in bytes of the block after the batch, in its half.
func (b batch) end() int { return b.at + roundUp(batchHeadLen+b.length) }

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

// decodeBatch returns the batch whose header b is. It reports false if b is not a
// header, or the batch would have more than most bytes.
func decodeBatch(b []byte, salt Salt, most int) (h batch, ok bool) {
	if binary.LittleEndian.Uint32(b) != checksum(salt, b[payloadSumAt:batchHeadLen]) {
		return batch{}, false
	}
	h = batch{
		sequence: binary.LittleEndian.Uint64(b[sequenceAt:]),
		length:   int(binary.LittleEndian.Uint32(b[lengthAt:])),
		count:    int(binary.LittleEndian.Uint32(b[countAt:])),
		sum:      binary.LittleEndian.Uint32(b[payloadSumAt:]),
	}
	return h, h.length >= 0 && h.length <= most-batchHeadLen // negative: an int of 32 bits
}

// valid reports whether the batch at the beginning of region is intact.
func (b batch) valid(region []byte, salt Salt) bool {
	return checksum(salt, region[batchHeadLen:batchHeadLen+b.length]) == b.sum
}

// recordAt returns the record at the offset at of b and the offset of the next one.
// It reports false if it reaches beyond end.
func recordAt(b []byte, at, end int) (r Record, next int, ok bool) {
	if end-at < recordHeadLen {
		return Record{}, 0, false
	}
	r.ID = int64(binary.LittleEndian.Uint64(b[at:])) //nolint:gosec // the bits are meant
	length := int(binary.LittleEndian.Uint32(b[at+8:]))
	at += recordHeadLen
	if length < 0 || length > end-at { // negative: an int of 32 bits
		return Record{}, 0, false
	}
	next = at + length
	r.Value = b[at:next:next]
	return r, next, true
}
