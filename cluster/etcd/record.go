package etcd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"plantstore/cluster/internal/retry"
	"plantstore/models"
	"plantstore/storage"
)

// The layout of a value:
//
//	1 byte    version
//	4 bytes   CRC-32C of the key and of the rest of the value, big-endian
//	16 bytes  commit token
//	1 byte    1 if there is a tag, otherwise 0
//	varint    length of the name
//	          name, tag
//
// Strings are stored raw: as JSON, a plant of 1 MiB could exceed the limit of a request.
const (
	recordVersion = 1
	checkedFrom   = 1 + crc32.Size
	tagAt         = checkedFrom + len(retry.Token{})
	headerLen     = tagAt + 1
	keyDigits     = 16
	signBit       = 1 << 63
)

// keys is the prefix of the keys to which it maps ids.
type keys string

// of returns the key of id: the prefix and the id in hexadecimal with its sign
// bit flipped, so that the order of the keys is the order of the ids (C5.29).
func (k keys) of(id int64) string { return k.at(uint64(id) ^ signBit) }

// at returns the key at a place in the order of the keys, 0 for the lowest.
func (k keys) at(place uint64) string { return fmt.Sprintf("%s%0*x", string(k), keyDigits, place) }

// end returns the key after the last possible key of a plant.
func (k keys) end() string { return string(k) + strings.Repeat("f", keyDigits) + "\x00" }

// idOf returns the id of a key.
func (k keys) idOf(key string) (int64, error) {
	digits, ok := strings.CutPrefix(key, string(k))
	bits, err := strconv.ParseUint(digits, 16, 64)
	id := int64(bits ^ signBit)
	if !ok || err != nil || k.of(id) != key {
		return 0, fmt.Errorf("%w: key %q is not a key of a plant", storage.ErrCorrupt, key)
	}
	return id, nil
}

// record decodes the plant of kv.
func (k keys) record(kv *mvccpb.KeyValue) (storage.Record, error) {
	key := string(kv.Key)
	id, err := k.idOf(key)
	if err != nil {
		return storage.Record{}, err
	}
	r, err := decode(key, kv.Value)
	if err != nil {
		return storage.Record{}, &storage.CorruptError{ID: id, Err: err}
	}
	return storage.Record{ID: id, Plant: r.plant}, nil
}

// A record is the value of a key.
type record struct {
	token retry.Token
	plant models.Plant
}

// encode returns the value of r under key.
func (r record) encode(key string) string {
	value := make([]byte, checkedFrom, headerLen+binary.MaxVarintLen64+len(r.plant.Name))
	value[0] = recordVersion
	value = append(value, r.token[:]...)
	flag, tag := byte(0), ""
	if r.plant.Tag != nil {
		flag, tag = 1, *r.plant.Tag
	}
	value = append(value, flag)
	value = binary.AppendUvarint(value, uint64(len(r.plant.Name)))
	value = append(value, r.plant.Name...)
	value = append(value, tag...)
	binary.BigEndian.PutUint32(value[1:], checksum(key, value[checkedFrom:]))
	return string(value)
}

// decode returns the record in value, which is stored under key. It fails with
// [storage.ErrCorrupt].
func decode(key string, value []byte) (record, error) {
	r, err := parse(key, value)
	if err != nil {
		return record{}, fmt.Errorf("%w: key %q: %w", storage.ErrCorrupt, key, err)
	}
	return r, nil
}

func parse(key string, value []byte) (r record, err error) {
	if len(value) <= headerLen || value[0] != recordVersion {
		return r, fmt.Errorf("no header of version %d", recordVersion)
	}
	if binary.BigEndian.Uint32(value[1:]) != checksum(key, value[checkedFrom:]) {
		return r, errors.New("wrong checksum")
	}
	copy(r.token[:], value[checkedFrom:])
	length, n := binary.Uvarint(value[headerLen:])
	text := value[headerLen+max(n, 0):]
	if n <= 0 || length > uint64(len(text)) {
		return r, errors.New("wrong length of the name")
	}
	r.plant.Name = string(text[:length])
	switch tag := string(text[length:]); {
	case value[tagAt] == 1:
		r.plant.Tag = &tag
	case value[tagAt] != 0 || tag != "":
		return r, errors.New("invalid tag flag")
	}
	return r, nil
}

// checksum returns the CRC-32C (Castagnoli) of key followed by payload. It includes the
// key to detect a record under a wrong id.
func checksum(key string, payload []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum([]byte(key), table), table, payload)
}
