package journal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"iter"
	"maps"
	"slices"
)

// A State describes the batches of a journal that the database has. The database stores
// it in the same transaction as the records, so that both are of one moment.
type State struct {
	Salt Salt
	// Applied is the number of a batch: the database has all records of this batch
	// and of the earlier ones.
	Applied uint64
	// Through and Next describe a checkpoint under way: of the batches after
	// Applied, up to Through, the database has the records with an id below Next.
	// Through is 0 if no checkpoint is under way.
	Through uint64
	Next    int64
	// Clean is true if no records were pending when the database was closed: the
	// journal is not needed.
	Clean bool
}

// MarshalBinary implements [encoding.BinaryMarshaler]. It never fails. The result ends with
// a checksum: a corrupt number could make batches pass for applied.
func (s State) MarshalBinary() ([]byte, error) {
	b, err := binary.Append(nil, binary.LittleEndian, s)
	return binary.LittleEndian.AppendUint32(b, checksum(s.Salt, b[saltLen:])), err
}

// UnmarshalBinary implements [encoding.BinaryUnmarshaler].
func (s *State) UnmarshalBinary(b []byte) error {
	n, err := binary.Decode(b, binary.LittleEndian, s)
	if err != nil || len(b) != n+crc32.Size || binary.LittleEndian.Uint32(b[n:]) != checksum(s.Salt, b[saltLen:n]) {
		return errors.New("the state of its journal is corrupt")
	}
	return nil
}

// applied reports whether the database has the record of id in a batch.
func (s State) applied(sequence uint64, id int64) bool {
	return sequence <= s.Applied || sequence <= s.Through && id < s.Next
}

// A Part is some of the records of a checkpoint.
type Part struct {
	Records []Record // in ascending order of id
	State   State    // of a database that has these records and those of the parts before
	Done    float64  // share of the records of the checkpoint that it has then; 1 in the last part
}

// Checkpoint yields the records in the frozen half that a database in that state lacks, at
// most n at a time. Without a frozen half there are no parts. The caller makes each part and
// its state durable before it continues: after the last part the half is free again. If the
// caller breaks off, the half stays frozen.
func (j *Journal) Checkpoint(state State, n int) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		if !j.Frozen() {
			return
		}
		h := j.inactive() // no half becomes active while one is frozen
		left := slices.Sorted(maps.Keys(h.places))
		if state.Through == h.last { // a checkpoint was broken off
			first, _ := slices.BinarySearch(left, state.Next)
			left = left[first:]
		}
		total := len(left)
		for part := (Part{}); part.Done < 1; {
			part.Records = make([]Record, min(n, len(left)))
			for i := range part.Records {
				part.Records[i] = h.record(left[i], h.places[left[i]])
			}
			left = left[len(part.Records):]
			part.State, part.Done = State{Salt: j.salt, Applied: h.last}, 1
			if len(left) > 0 {
				part.State = State{Salt: j.salt, Applied: state.Applied, Through: h.last, Next: left[0]}
				part.Done = 1 - float64(len(left))/float64(total)
			}
			if !yield(part) {
				return
			}
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		*h = half{at: h.at}
	}
}

// Freeze freezes the active half for a checkpoint, unless one is frozen already or it is
// empty. After [ErrUnknown] it does not: the batch in question may lie in the active
// half, behind the records of a checkpoint.
func (j *Journal) Freeze() {
	j.appending.Lock()
	defer j.appending.Unlock()
	if j.failed == nil && j.halves[j.active].used > 0 {
		j.turn()
	}
}

// Frozen reports whether a half is frozen.
func (j *Journal) Frozen() bool {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.inactive().used > 0
}
