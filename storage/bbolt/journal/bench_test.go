package journal_test

import (
	"errors"
	"fmt"
	"testing"

	"plantstore/storage/bbolt/journal"
)

var plant = []byte(`00000{"name":"Fern","tag":"indoor"}`) //nolint:gochecknoglobals // never changed

// appendAll appends records, and frees a half without applying it if there is no space.
func appendAll(b *testing.B, j *journal.Journal, records []journal.Record) {
	b.Helper()
	err := j.Append(records)
	if errors.Is(err, journal.ErrFull) {
		j.Freeze()
		for range parts(j, journal.State{}, 1<<20) {
		}
		err = j.Append(records)
	}
	if err != nil {
		b.Fatal(err)
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1, 30, 300} {
		b.Run(fmt.Sprint("records=", n), func(b *testing.B) {
			path, salt := create(b, 32<<20)
			j := open(b, path, journal.State{Salt: salt})
			records := make([]journal.Record, n)
			id := int64(0)
			b.ReportAllocs()
			for b.Loop() {
				for i := range records {
					id++
					records[i] = journal.Record{ID: id, Value: plant}
				}
				appendAll(b, j, records)
			}
		})
	}
}

// filled returns the path and salt of a journal of 32 MiB with 180,000 pending
// records in one half.
func filled(b *testing.B) (path string, salt journal.Salt) {
	b.Helper()
	path, salt = create(b, 32<<20)
	j := open(b, path, journal.State{Salt: salt})
	records := make([]journal.Record, 300)
	id := int64(0)
	for range 600 {
		for i := range records {
			id++
			records[i] = journal.Record{ID: id * 7919 % 1000003, Value: plant}
		}
		if err := j.Append(records); err != nil {
			b.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	return path, salt
}

func BenchmarkCheckpoint(b *testing.B) {
	path, salt := filled(b)
	state := journal.State{Salt: salt}
	for b.Loop() {
		b.StopTimer()
		j := open(b, path, state)
		b.StartTimer()
		n := 0
		j.Freeze()
		for part := range parts(j, state, 512) {
			n += len(part.Records)
		}
		if n != 180_000 {
			b.Fatal(n)
		}
		b.StopTimer()
		_ = j.Close()
		b.StartTimer()
	}
}

func BenchmarkOpen(b *testing.B) {
	path, salt := filled(b)
	for b.Loop() {
		if err := open(b, path, journal.State{Salt: salt}).Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	path, salt := filled(b)
	j := open(b, path, journal.State{Salt: salt})
	for _, test := range []struct {
		name string
		id   int64
		want bool
	}{{"pending", 7919, true}, {"absent", 2_000_000, false}} {
		b.Run(test.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, found, err := j.Get(test.id); found != test.want || err != nil {
					b.Fatal(found, err)
				}
			}
		})
	}
}
