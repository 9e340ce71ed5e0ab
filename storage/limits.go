package storage

import "cmp"

// Limits bound queue and batches of a [Store]. A field that is 0 takes its default.
// A single plant may be larger than the bounds in bytes: it goes alone.
type Limits struct {
	QueuePlants int // plants that wait for a batch; 10,000
	QueueBytes  int // bytes of their names and tags; 64 MiB
	BatchPlants int // plants in one batch; 4,096
	BatchBytes  int // bytes of their names and tags; 16 MiB
	Writers     int // batches that are committed at a time; 1
}

// withDefaults returns l with its zero fields filled in.
func (l Limits) withDefaults() Limits {
	return Limits{
		QueuePlants: cmp.Or(l.QueuePlants, 10_000),
		QueueBytes:  cmp.Or(l.QueueBytes, 64<<20),
		BatchPlants: cmp.Or(l.BatchPlants, 4096),
		BatchBytes:  cmp.Or(l.BatchBytes, 16<<20),
		Writers:     cmp.Or(l.Writers, 1),
	}
}

// fit returns how many of the records go into one batch: one at least.
func (l Limits) fit(records []Record) int {
	bytes := 0
	for n, r := range records {
		bytes += r.Size()
		if n > 0 && (n == l.BatchPlants || bytes > l.BatchBytes) {
			return n
		}
	}
	return len(records)
}
