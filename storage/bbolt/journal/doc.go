// Package journal implements the write-ahead log of the bbolt engine: records are
// appended and synced here, and reach the database later, at a checkpoint. Until then they
// are pending, and also in memory.
//
//	j, err := journal.Open(file, state, true) // replays the missing batches
//	err = j.Append(records)                   // durable when it returns nil
//	value, found := j.Get(id)                 // pending records only
//
//	j.Freeze()                                // a half
//	for part := range j.Checkpoint(state, 512) {
//		put(part.Records, part.State)     // into the database, in one transaction
//	}                                         // the half is free again
//
// # File format
//
// The file is a header block of 4 KiB and two halves of equal size, all of it
// written once with zeros at creation, so that an append changes no metadata of the
// file and one fdatasync needs one wait for the disk. All numbers are little-endian.
//
//	header: magic "plantstore journal\n" | version uint32 | half size uint64 | salt [16]byte | CRC-32C uint32
//	half:   batch | batch | … | remains of earlier batches, or zeros
//	batch:  header CRC uint32 | payload CRC uint32 | sequence number uint64 | length uint32 | count uint32 | payload
//	record: id int64 | length uint32 | value
//
// One batch is one append. It begins at a multiple of 4 KiB, so that no write
// touches a block with acknowledged bytes. Batches are numbered from 1 without gaps.
// Both checksums begin with the salt, which is random and differs between files: neither
// remains of another file nor values that look like a batch are mistaken for one. Clients
// that choose values must not learn the salt.
//
// Batches go to the active half. When it is full, or at a checkpoint, it is frozen
// and the other half becomes active. A frozen half is free again when all of its
// records are durable in the database, which stores a [State] with them.
//
// # Replay
//
// [Open] finds all valid batches with a number above the last one that the database
// has applied. They are pending if no number is missing. A batch that a crash has torn
// can only be the last one, and was never acknowledged. A missing number means
// corruption, or a journal and a database from different moments, and Open fails. It also
// fails if the last batch is missing and the database has some of its records.
//
// Corruption of the last batch cannot be distinguished from a torn write, and drops that
// batch.
//
// # Memory
//
// A pending record takes at most 41 bytes and 1.25 times its value in memory: 2.2 times the size of
// the file for values of 17 bytes, the shortest of plantstore, and 1.5 times for 100 bytes.
package journal
