package etcd

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"pgregory.net/rapid"

	"plantstore/cluster/internal/retry"
	"plantstore/models"
	"plantstore/storage"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	k := keys("/plants/")
	ids := []int64{math.MinInt64, -2, -1, 0, 1, 255, 256, math.MaxInt64}
	var got []string
	for _, id := range ids {
		got = append(got, k.of(id))
		if back, err := k.idOf(k.of(id)); err != nil || back != id {
			t.Errorf("idOf(of(%d)) = %d, %v", id, back, err)
		}
	}
	if !slices.IsSorted(got) || got[0] < string(k) || got[len(got)-1] >= k.end() {
		t.Errorf("the keys are not in the order of the ids, or not below the prefix: %q", got)
	}
	if want := "/plants/8000000000000001"; k.of(1) != want {
		t.Errorf("of(1) = %q, want %q", k.of(1), want)
	}
	for _, key := range []string{
		"", "/plants/", "/plants/1", "/plants/800000000000000A", "/plants/+000000000000001", "/plants/80000000000000010",
		"/plant/8000000000000001", "/plants/8000000000000001\x00", "/plants/0x80000000000000", "/plants/8000_00000000001",
	} {
		if _, err := k.idOf(key); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("idOf(%q): %v, want: %v", key, err, storage.ErrCorrupt)
		}
	}
}

func TestRecordKeepsPlant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		want := record{
			token: retry.Token(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(r, "token")),
			plant: rapid.Make[models.Plant]().Draw(r, "plant"),
		}
		got, err := decode("key", []byte(want.encode("key")))
		if err != nil || !reflect.DeepEqual(got, want) { // all fields, also those that Equal does not know
			r.Fatalf("decode = %+v, %v, want %+v", got, err, want)
		}
	})
}

// TestRecordLayout checks that the record layout has not changed: stores have it.
func TestRecordLayout(t *testing.T) {
	t.Parallel()
	tag := "climber"
	r := record{retry.Token([]byte("0123456789abcdef")), models.Plant{Name: "Monstera", Tag: &tag}}
	if got, want := r.encode("/plants/8000000000000001"), "\x01\x56\x92\xb0\x670123456789abcdef\x01\x08Monsteraclimber"; got != want {
		t.Errorf("encode = %q, want %q", got, want)
	}
}

// TestCorruptRecord checks that each flipped bit, and each missing byte, is detected.
func TestCorruptRecord(t *testing.T) {
	t.Parallel()
	k, tag := keys("/plants/"), "climber"
	key := k.of(7)
	value := []byte(record{retry.Token{1}, models.Plant{Name: "Monstera", Tag: &tag}}.encode(key))
	corrupt := func(name, key string, value []byte) {
		_, err := k.record(&mvccpb.KeyValue{Key: []byte(key), Value: value})
		var damaged *storage.CorruptError
		_, keyErr := k.idOf(key)
		if !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), key) || errors.As(err, &damaged) != (keyErr == nil) {
			t.Errorf("%s: %v, want: %v, with the key", name, err, storage.ErrCorrupt)
		}
	}
	for i := range len(value) * 8 {
		flipped := slices.Clone(value)
		flipped[i/8] ^= 1 << (i % 8)
		corrupt("a bit flipped", key, flipped)
	}
	for n := range value {
		corrupt("cut short", key, value[:n])
	}
	corrupt("under another id", k.of(8), value)
}

// TestParseRefuses checks that values with a correct checksum that are not records are refused.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(value []byte) []byte{
		"long name":     func(v []byte) []byte { v[headerLen] = 10; return v },
		"endless name":  func(v []byte) []byte { return append(v[:headerLen], slices.Repeat([]byte{0xff}, 12)...) },
		"tag unmarked":  func(v []byte) []byte { return append(v, 'x') },
		"unknown flag":  func(v []byte) []byte { v[tagAt] = 2; return v },
		"other version": func(v []byte) []byte { v[0] = 2; return v },
	} {
		value := change([]byte(record{plant: models.Plant{Name: "Monstera"}}.encode("key")))
		binary.BigEndian.PutUint32(value[1:], checksum("key", value[checkedFrom:]))
		if _, err := decode("key", value); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("%s: %v, want: %v", name, err, storage.ErrCorrupt)
		}
	}
}

// A corruptKV is a cluster whose records are all corrupt.
type corruptKV struct{ clientv3.KV }

// Get implements [clientv3.KV].
func (corruptKV) Get(_ context.Context, key string, _ ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	return &clientv3.GetResponse{Kvs: []*mvccpb.KeyValue{{Key: []byte(key), Value: []byte("x")}}}, nil
}

// TestGetCorrupt checks that Get returns the id of a corrupt record, as List does.
func TestGetCorrupt(t *testing.T) {
	t.Parallel()
	e := &Engine{client: &clientv3.Client{KV: corruptKV{}}, keys: "/plants/", retry: retry.Policy{Timeout: time.Second, Attempt: time.Second}}
	_, err := e.Get(t.Context(), 7)
	var corrupt *storage.CorruptError
	if !errors.As(err, &corrupt) || corrupt.ID != 7 || !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("Get: %v, want a CorruptError of id 7", err)
	}
}
