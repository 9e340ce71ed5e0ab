package models

import "testing"

// BenchmarkCreate measures what models does for a create: to decode the body, to copy the plant for
// the queue, and to encode it for the store and for the response.
func BenchmarkCreate(b *testing.B) {
	decoder := NewDecoder(1 << 20)
	body := []byte(`{"id":12345678,"name":"Echeveria, number 12345678","tag":"succulent"}`)
	buffer := make([]byte, 0, 256)
	p, queued := new(NewPlant), new(Plant)
	b.ReportAllocs()
	for b.Loop() {
		if err := decoder.Decode(body, p); err != nil {
			b.Fatal(err)
		}
		*queued = p.Plant().Clone()
		for range 2 {
			if _, err := queued.AppendJSON(buffer); err != nil {
				b.Fatal(err)
			}
		}
	}
	sink = queued
}

// sink keeps the plant of the benchmark on the heap.
var sink *Plant
