package bbolt

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"testing"

	"plantstore/internal/must"
	"plantstore/models"
	"plantstore/storage"
)

// TestLayout checks that the layout of records has not changed: existing files have it.
func TestLayout(t *testing.T) {
	t.Parallel()
	tag, empty := "<cactus>", ""
	for _, test := range []struct {
		id         int64
		plant      models.Plant
		key, value string
	}{
		{math.MinInt64, models.Plant{}, "0000000000000000", "01656530b5" + hex.EncodeToString([]byte(`{"name":""}`))},
		{-1, models.Plant{Name: "a", Tag: &tag}, "7fffffffffffffff", "018a6b94f8" + hex.EncodeToString([]byte(`{"name":"a","tag":"<cactus>"}`))},
		{0, models.Plant{Name: "a", Tag: &empty}, "8000000000000000", "014e91a718" + hex.EncodeToString([]byte(`{"name":"a","tag":""}`))},
		{math.MaxInt64, models.Plant{Name: "\u2028\x00é"}, "ffffffffffffffff", "010510eab7" + hex.EncodeToString([]byte("{\"name\":\"\u2028\\u0000é\"}"))},
	} {
		key := keyOf(test.id)
		value := must.Get(encode(keyOf(test.id), test.plant))(t)
		if got := hex.EncodeToString(key); got != test.key {
			t.Errorf("key of %d = %s, want %s", test.id, got, test.key)
		}
		if got := hex.EncodeToString(value); got != test.value {
			t.Errorf("value of %d = %s, want %s", test.id, got, test.value)
		}
	}
}

// TestEveryFlippedBitIsFound flips each bit of a record, its key included.
func TestEveryFlippedBitIsFound(t *testing.T) {
	t.Parallel()
	key, tag := keyOf(42), "succulent"
	value := must.Get(encode(keyOf(42), models.Plant{Name: "Echeveria", Tag: &tag}))(t)
	record := slices.Concat(key, value)
	for bit := range 8 * len(record) {
		flipped := bytes.Clone(record)
		flipped[bit/8] ^= 1 << (bit % 8)
		var corrupt *storage.CorruptError
		if plant, err := decode(flipped[:keyLen], flipped[keyLen:]); !errors.Is(err, storage.ErrCorrupt) || !errors.As(err, &corrupt) || corrupt.ID != idOf(flipped) {
			t.Errorf("bit %d flipped: decode = %v, %v, want: %v with its id", bit, plant, err, storage.ErrCorrupt)
		}
	}
	for n := range value {
		if _, err := decode(key, value[:n]); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("cut to %d bytes: decode: %v, want: %v", n, err, storage.ErrCorrupt)
		}
	}
	if _, err := decode(key[:7], value); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("short key: decode: %v, want: %v", err, storage.ErrCorrupt)
	}
}

func TestDecodeRefusesWhatIsNoPlant(t *testing.T) {
	t.Parallel()
	key := keyOf(1)
	for _, payload := range []string{"", "{", `{"name":1}`, `{"name":"a"}x`, "{\"name\":\"\xff\"}"} {
		value := binary.BigEndian.AppendUint32([]byte{recordVersion}, checksum(key, []byte(payload)))
		if _, err := decode(key, append(value, payload...)); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("payload %q: decode: %v, want: %v", payload, err, storage.ErrCorrupt)
		}
	}
}
