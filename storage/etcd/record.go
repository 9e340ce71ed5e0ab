package etcd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"plantstore/models"
	"plantstore/storage"
)

// A value is the version, the CRC-32C of the key and of all that follows it,
// big-endian, the request, whether there is a tag, the length of the name as a
// varint, the name and the tag. Names and tags are there as they are: in JSON a
// plant of 1 MiB could be too large for one request.
const (
	recordVersion = 1
	checkedFrom   = 1 + crc32.Size
	tagAt         = checkedFrom + len(storage.Request{})
	headerLen     = tagAt + 1
	keyDigits     = 16
	signBit       = 1 << 63
)

// keys are those of the plants below a prefix.
type keys struct{ prefix string }

// of returns the key of id: the prefix and the id in hexadecimal with its sign
// bit flipped, so that the order of the keys is the order of the ids (C5.29).
func (k keys) of(id int64) string {
	return fmt.Sprintf("%s%0*x", k.prefix, keyDigits, uint64(id)^signBit) //nolint:gosec // the bits are meant
}

// first returns the first key below the prefix.
func (k keys) first() string { return k.prefix }

// end returns the first key that is no plant's any more.
func (k keys) end() string { return k.prefix + strings.Repeat("f", keyDigits) + "\x00" }

// idOf returns the id of a key.
func (k keys) idOf(key string) (int64, error) {
	digits, ok := strings.CutPrefix(key, k.prefix)
	bits, err := strconv.ParseUint(digits, 16, 64)
	id := int64(bits ^ signBit) //nolint:gosec // the bits are meant
	if !ok || err != nil || k.of(id) != key {
		return 0, fmt.Errorf("%w: key %q: not that of a plant", storage.ErrCorrupt, key)
	}
	return id, nil
}

// record returns the plant that kv is.
func (k keys) record(kv *mvccpb.KeyValue) (storage.Record, error) {
	key := string(kv.Key)
	id, err := k.idOf(key)
	if err != nil {
		return storage.Record{}, err
	}
	r, err := decode(key, kv.Value)
	return storage.Record{ID: id, Plant: r.plant}, err
}

// A record is what is stored under a key.
type record struct {
	request storage.Request
	plant   models.Plant
}

// encode returns the value that stores r under key.
func (r record) encode(key string) string {
	value := make([]byte, checkedFrom, headerLen+binary.MaxVarintLen64+len(r.plant.Name))
	value[0] = recordVersion
	value = append(value, r.request[:]...)
	tag := ""
	if r.plant.Tag == nil {
		value = append(value, 0)
	} else {
		value = append(value, 1)
		tag = *r.plant.Tag
	}
	value = binary.AppendUvarint(value, uint64(len(r.plant.Name)))
	value = append(value, r.plant.Name...)
	value = append(value, tag...)
	binary.BigEndian.PutUint32(value[1:], checksum(key, value[checkedFrom:]))
	return string(value)
}

// decode returns what value stores under key, or an error that matches
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
	copy(r.request[:], value[checkedFrom:])
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
		return r, errors.New("wrong mark of the tag")
	}
	return r, nil
}

// checksum returns the CRC-32C (Castagnoli) of key followed by payload. With the
// key in it, a record that turns up under another id is found out.
func checksum(key string, payload []byte) uint32 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum([]byte(key), table), table, payload)
}
