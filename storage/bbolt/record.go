package bbolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"strconv"

	"github.com/go-json-experiment/json"
	bolt "go.etcd.io/bbolt"

	"plantstore/models"
	"plantstore/storage"
)

// The buckets, and the keys of the meta bucket.
const (
	plantsBucket = "plants" // its sequence is the number of plants
	metaBucket   = "meta"
	schemaKey    = "schema" // the schema version, in decimal
	fileKey      = "file"   // the identity of the file in its file system

	schemaVersion = 1
)

// verifySchema refuses a version of the schema that this package does not know.
func verifySchema(schema string) error {
	version, err := strconv.Atoi(schema)
	switch {
	case err != nil || version < 1:
		return corrupt("is corrupt (its schema version is %q)", schema)
	case version > schemaVersion:
		return refusal("has schema version %d, and this plantstore supports versions up to %d: upgrade plantstore", version, schemaVersion)
	}
	return nil
}

// isOwn reports whether the file is the one in which a server has stored this bucket, not a copy.
func isOwn(bucket map[string]string, file *os.File) bool {
	identity := fileIdentity(file)
	return identity != "" && identity == bucket[fileKey]
}

// putOwn lets isOwn return true for file.
func putOwn(tx *bolt.Tx, file *os.File) error {
	return tx.Bucket([]byte(metaBucket)).Put([]byte(fileKey), []byte(fileIdentity(file)))
}

// A value is the version, the CRC-32C of the key and the payload, big-endian,
// and the payload: the plant as JSON.
const (
	recordVersion = 1
	recordHeader  = 1 + crc32.Size
	keyLen        = 8
	signBit       = 1 << 63
)

// keyOf returns the key of id: big-endian with the sign bit flipped, so that
// the order of the keys is the order of the ids (C5.29).
func keyOf(id int64) []byte { return appendKey(nil, id) }

func appendKey(b []byte, id int64) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(id)^signBit)
}

// idOf returns the id of a key of keyLen bytes.
func idOf(key []byte) int64 {
	return int64(binary.BigEndian.Uint64(key) ^ signBit)
}

// encode returns the value that stores plant under key, in memory behind the key if it has space. It
// fails for strings that are not UTF-8.
func encode(key []byte, plant models.Plant) ([]byte, error) {
	b, err := plant.AppendJSON(append(key, recordVersion, 0, 0, 0, 0))
	if err != nil {
		return nil, err
	}
	value := b[keyLen:]
	binary.BigEndian.PutUint32(value[1:], checksum(key, value[recordHeader:]))
	return value, nil
}

// decode returns the record that value stores under key, or an error that matches
// [storage.ErrCorrupt]: if key is an id, a [storage.CorruptError], and a record with that id. The plant
// shares no memory with value.
func decode(key, value []byte) (record storage.Record, err error) {
	if len(key) != keyLen {
		return record, fmt.Errorf("%w: key %.20x: not %d bytes", storage.ErrCorrupt, key, keyLen)
	}
	record.ID = idOf(key)
	switch {
	case len(value) < recordHeader || value[0] != recordVersion:
		err = fmt.Errorf("no header of version %d", recordVersion)
	case binary.BigEndian.Uint32(value[1:]) != checksum(key, value[recordHeader:]):
		err = errors.New("wrong checksum")
	default:
		err = json.Unmarshal(value[recordHeader:], &record.Plant)
	}
	if err != nil {
		return storage.Record{ID: record.ID}, &storage.CorruptError{ID: record.ID, Err: fmt.Errorf("%w: id %d: %w", storage.ErrCorrupt, record.ID, err)}
	}
	return record, nil
}

// checksum returns the CRC-32C (Castagnoli) of key followed by payload. It includes the key to
// detect a record under a wrong id.
func checksum(key, payload []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum(key, table), table, payload)
}
