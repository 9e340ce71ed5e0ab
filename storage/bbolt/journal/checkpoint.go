package journal

import (
	"cmp"
	"encoding/binary"
	"errors"
	"hash/crc32"
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

// A Frozen is a half whose records are to be applied.
type Frozen struct {
	half    *half
	salt    Salt
	last    uint64 // number of the last batch
	entries []entry
}

// An entry is the place of a record in its half.
type entry struct {
	id int64
	at int
}

// Freeze returns the half that is frozen, or else freezes the active one. It returns
// nil if no records are pending, and after [ErrUnknown], unless a half was frozen before:
// the batch in question may lie in the active half, behind the records of a checkpoint.
func (j *Journal) Freeze() *Frozen {
	j.appending.Lock()
	if j.failed == nil && j.halves[j.active].used > 0 {
		j.turn()
	}
	h, frozen := &j.halves[1-j.active], j.frozen
	j.appending.Unlock()
	if !frozen {
		return nil
	}
	f := &Frozen{half: h, salt: j.salt, last: h.last, entries: make([]entry, 0, h.records)}
	h.all(func(id int64, at int) { f.entries = append(f.entries, entry{id, at}) })
	slices.SortFunc(f.entries, func(a, b entry) int { return cmp.Compare(a.id, b.id) })
	return f
}

// Frozen reports whether a half is frozen.
func (j *Journal) Frozen() bool {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.frozen
}

// Len returns the number of records.
func (f *Frozen) Len() int { return len(f.entries) }

// Record returns record i, in ascending order of id. Its value is valid until Release.
func (f *Frozen) Record(i int) Record {
	b := f.half.bytes[f.entries[i].at:]
	r, _, _ := recordAt(b, 0, len(b)) // the index has complete records only
	return r
}

// Start returns the number of records that a database in that state has already.
func (f *Frozen) Start(state State) int {
	if state.Through != f.last {
		return 0
	}
	n, _ := slices.BinarySearchFunc(f.entries, state.Next, func(e entry, id int64) int { return cmp.Compare(e.id, id) })
	return n
}

// State returns the state of a database that has the first n records. before is its
// state at any time since the last Release.
func (f *Frozen) State(before State, n int) State {
	if n == len(f.entries) {
		return State{Salt: f.salt, Applied: f.last}
	}
	return State{Salt: f.salt, Applied: before.Applied, Through: f.last, Next: f.entries[n].id}
}

// Release frees a half all of whose records the database has durably. It does nothing
// if that half was released before. f must not be used again.
func (j *Journal) Release(f *Frozen) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f.entries = nil
	if j.frozen && f.half == &j.halves[1-j.active] && f.last == f.half.last {
		f.half.reset()
		j.frozen = false
	}
}
