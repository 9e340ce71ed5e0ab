package bbolt

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"math"
	"strconv"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage/bbolt/journal"
)

// The buckets, and the keys of the meta bucket.
const (
	plantsBucket = "plants"
	metaBucket   = "meta"
	schemaKey    = "schema"  // the schema version, in decimal
	idKey        = "id"      // the database's own random id, in hexadecimal
	stateKey     = "journal" // the [journal.State] of the database
	idLen        = 16        // bytes

	// schemaVersion is the version of the layout. While a journal is in use the
	// version is journalSchema, so that a plantstore without support for journals
	// refuses the database.
	schemaVersion = 1
	journalSchema = 2
)

// verify reads the id and the state of the journal, or refuses a file that is not a store
// that this package can read.
func (e *Engine) verify(tx *bolt.Tx) error {
	meta := tx.Bucket([]byte(metaBucket))
	schema := meta.Get([]byte(schemaKey))
	version, err := strconv.Atoi(string(schema))
	switch {
	case err != nil || version < 1:
		return corrupt("is corrupt (its schema version is %q): restore a backup", schema)
	case version > journalSchema:
		return refusal("has schema version %d, and this plantstore supports versions up to %d: upgrade plantstore",
			version, journalSchema)
	}
	e.id = string(meta.Get([]byte(idKey)))
	if id, err := hex.DecodeString(e.id); err != nil || len(id) != idLen {
		return corrupt("is corrupt (its id is %q): restore a backup", e.id)
	}
	e.state = journal.State{Clean: true} // of a database that never had a journal
	if value := meta.Get([]byte(stateKey)); value != nil {
		if err := e.state.UnmarshalBinary(value); err != nil {
			return corrupt("is corrupt (%v): restore a backup", err)
		}
	}
	if e.state.Clean == (version == journalSchema) {
		return corrupt("is corrupt (its schema version is %d, which its journal contradicts): restore a backup", version)
	}
	return nil
}

// putState stores the state of the journal, unless it is nil.
func putState(tx *bolt.Tx, state *journal.State) error {
	if state == nil {
		return nil
	}
	value, err := state.MarshalBinary()
	if err != nil {
		return err
	}
	schema := int64(journalSchema)
	if state.Clean {
		schema = schemaVersion
	}
	return errors.Join(tx.Bucket([]byte(metaBucket)).Put([]byte(stateKey), value), putSchema(tx, schema))
}

func putSchema(tx *bolt.Tx, version int64) error {
	return tx.Bucket([]byte(metaBucket)).Put([]byte(schemaKey), strconv.AppendInt(nil, version, 10))
}

// putID gives the database a new id.
func putID(tx *bolt.Tx) error {
	id := make([]byte, idLen)
	_, _ = rand.Read(id) // never fails
	return tx.Bucket([]byte(metaBucket)).Put([]byte(idKey), hex.AppendEncode(nil, id))
}

// countTree returns the number of plants in the bucket.
func countTree(plants *bolt.Bucket) (n int64) {
	if n = int64(min(plants.Sequence(), math.MaxInt64)); n > 0 {
		return n
	}
	c := plants.Cursor()
	for key, _ := c.First(); key != nil; key, _ = c.Next() {
		n++
	}
	return n
}
