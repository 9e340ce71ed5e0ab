package storagetest

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"plantstore/models"
)

// benchPlant is a plant of typical size.
func benchPlant() models.Plant {
	tag := "succulent"
	return models.Plant{Name: strings.Repeat("Echeveria ", 4), Tag: &tag}
}

// Benchmark runs the benchmarks: creates by few and by many concurrent clients, with ascending
// and with scattered ids, and reads.
func Benchmark(b *testing.B, fresh Fresh) {
	for _, clients := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("Create/ascending/clients=%d", clients), func(b *testing.B) {
			benchCreate(b, fresh(b), clients, func(n int64) int64 { return n })
		})
		b.Run(fmt.Sprintf("Create/scattered/clients=%d", clients), func(b *testing.B) {
			// An odd factor permutes the numbers.
			benchCreate(b, fresh(b), clients, func(n int64) int64 { return n * 0x5851f42d4c957f2d })
		})
	}
	b.Run("Get", func(b *testing.B) { benchGet(b, fresh(b)) })
	b.Run("List", func(b *testing.B) { benchList(b, fresh(b)) })
}

func benchCreate(b *testing.B, open Open, clients int, id func(n int64) int64) {
	s, plant := mustOpen(b, open), benchPlant()
	var n atomic.Int64
	var wg sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for range clients {
		wg.Go(func() {
			for i := n.Add(1); i <= int64(b.N); i = n.Add(1) {
				if err := s.Create(b.Context(), id(i), plant); err != nil {
					b.Errorf("Create: %v", err)
				}
			}
		})
	}
	wg.Wait()
}

// benchRecords is the number of plants to read.
const benchRecords = 5000

func benchGet(b *testing.B, open Open) {
	s := mustOpen(b, open)
	mustCreate(b, s, many(benchRecords)...)
	b.ReportAllocs()
	for i := int64(0); b.Loop(); i++ {
		if _, err := s.Get(b.Context(), i%(benchRecords/2)); err != nil {
			b.Fatalf("Get: %v", err)
		}
	}
}

// benchList measures the listing of benchRecords plants.
func benchList(b *testing.B, open Open) {
	s := mustOpen(b, open)
	mustCreate(b, s, many(benchRecords)...)
	b.ReportAllocs()
	for b.Loop() {
		if got := len(mustList(b, s, math.MinInt64)); got != benchRecords {
			b.Fatalf("List yielded %d plants, want %d", got, benchRecords)
		}
	}
}
