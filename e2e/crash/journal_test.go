package crash

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// The parts of the journal's format that the tests change.
const (
	journalHeader = 51   // bytes
	journalBlock  = 4096 // bytes: each batch begins at a multiple of it
	batchHeader   = 24   // bytes: checksums 4 + 4, number 8, length 4, count 4
)

// A pending database has half of the catalogue in its journal only, in batches of this many
// plants.
const (
	pendingPlants = stored / 2
	batchPlants   = 5
)

// newPending creates a database in the state that a killed process leaves: half of the catalogue
// is in its tree, and the other half in its journal only.
func newPending(t testing.TB) (path string) {
	t.Helper()
	for range 20 { // a checkpoint, after a second without creates, may come first
		path = copyPending(t)
		store, err := bbolt.OpenFile(path, storage.Options{ReadOnly: true})
		must(t, err)
		stats := store.Stats().File
		must(t, store.Close())
		if stats != nil && stats.Journal != nil && stats.Journal.Plants == pendingPlants {
			return path
		}
	}
	t.Fatal("checkpoints were always faster")
	return ""
}

// copyPending creates the catalogue and copies the files of the open store.
func copyPending(t testing.TB) (path string) {
	t.Helper()
	open := filepath.Join(t.TempDir(), databaseFile)
	plants := catalogue()
	var records []storage.Record
	for _, id := range slices.Sorted(maps.Keys(plants)) {
		records = append(records, storage.Record{ID: id, Plant: plants[id]})
	}
	shuffled := rand.New(rand.NewPCG(1, 1))
	shuffled.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	create := func(options storage.Options, records []storage.Record) *storage.Store {
		store, err := bbolt.OpenFile(open, options)
		must(t, err)
		for batch := range slices.Chunk(records, batchPlants) {
			must(t, errors.Join(store.CreateAll(t.Context(), batch)...))
		}
		return store
	}
	must(t, create(storage.Options{}, records[pendingPlants:]).Close())
	store := create(storage.Options{JournalBytes: 1 << 20}, records[:pendingPlants])
	path = copyDatabase(t, open)
	must(t, store.Close())
	return path
}

// copyDatabase copies a database and the files next to it to a new directory.
func copyDatabase(t testing.TB, from string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), databaseFile)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	for _, suffix := range []string{"", ".journal"} { // the journal comes last: it has the plants created meanwhile
		file, err := os.ReadFile(from + suffix)
		must(t, err)
		must(t, os.WriteFile(path+suffix, file, 0o600))
	}
	return path
}

// A journalLayout lists the used parts of a journal.
type journalLayout struct {
	header, last span
	before       []span // the other batches
	unused       []span
}

// newJournalLayout reads a journal without applied batches.
func newJournalLayout(t testing.TB, file []byte) journalLayout {
	t.Helper()
	l := journalLayout{header: span{0, journalHeader}, unused: []span{{journalHeader, journalBlock}}}
	for at := journalBlock; at < len(file); {
		length := int(binary.LittleEndian.Uint32(file[at+16:]))
		if length == 0 {
			l.unused = append(l.unused, span{at, len(file)})
			break
		}
		end := at + batchHeader + length
		l.before = append(l.before, span{at, end})
		at = (end + journalBlock - 1) &^ (journalBlock - 1)
		l.unused = append(l.unused, span{end, at})
	}
	if len(l.before) != pendingPlants/batchPlants {
		t.Fatalf("the journal has %d batches", len(l.before))
	}
	l.last, l.before = l.before[len(l.before)-1], l.before[:len(l.before)-1]
	return l
}

// TestFlippedJournal inverts single bits of a journal that is needed. Bits of the header
// and of any batch but the last are detected, and the journal is refused. A corrupt last
// batch cannot be distinguished from a batch torn by a power failure, and is dropped. The
// rest is not used.
func TestFlippedJournal(t *testing.T) {
	t.Parallel()
	path := newPending(t)
	journal, err := os.ReadFile(path + ".journal")
	must(t, err)
	l := newJournalLayout(t, journal)
	random, inspector := newRandom(t), newInspector(t)
	if v := inspector.inspect(path); v.reported() || v.Missing > 0 || len(v.Wrong) > 0 || v.Crash != "" {
		t.Fatalf("without a flipped bit: %+v", v)
	}
	for name, tt := range map[string]struct {
		spans   []span
		refused bool
		missing int
	}{
		"header":     {[]span{l.header}, true, stored},
		"batches":    {l.before, true, stored},
		"last batch": {[]span{l.last}, false, batchPlants},
		"unused":     {l.unused, false, 0},
	} {
		for n := range plantstore.Torture(200, 4_000) {
			undo, place := flip(journal, random, tt.spans)
			must(t, os.WriteFile(path+".journal", journal, 0o600))
			undo()
			v := inspector.inspect(path)
			if (v.Refused != "") != tt.refused || v.Missing != tt.missing || len(v.Wrong)+len(v.Corruption) > 0 || v.Crash != "" {
				t.Errorf("%s: a bit of byte %d: %+v", name, place, v)
			}
			if n%50 == 0 && tt.refused {
				wantRefusal(t, path, "check")
				wantRefusal(t, path, "serve")
				wantRefusal(t, path, "plants", "count")
			}
		}
	}
}

// TestFlippedNextToJournal inverts single bits of a database that needs its journal: if the
// corruption is not reported, all plants must be returned.
func TestFlippedNextToJournal(t *testing.T) {
	t.Parallel()
	path := newPending(t)
	file, err := os.ReadFile(path)
	must(t, err)
	l, state := newLayout(t, file), []byte("journal")
	at := bytes.LastIndex(file, state)
	checkFlips(t, path, file, l, map[string][]span{
		"meta pages":           {{0, 80}, {l.pageSize, l.pageSize + 80}},
		"records":              l.records,
		"page headers":         l.headers,
		"state of the journal": {{at, at + len(state) + 45}},
		"anywhere":             {{0, len(file)}},
	})
}

// TestCutJournal truncates a journal that is needed at many lengths.
func TestCutJournal(t *testing.T) {
	t.Parallel()
	path := newPending(t)
	journal, err := os.ReadFile(path + ".journal")
	must(t, err)
	random, inspector := newRandom(t), newInspector(t)
	lengths := []int{0, 1, journalHeader - 1, journalHeader, journalBlock, journalBlock + 1, len(journal) - journalBlock, len(journal) - 1}
	for range 50 {
		lengths = append(lengths, random.IntN(len(journal)))
	}
	for n, length := range lengths {
		must(t, os.WriteFile(path+".journal", journal[:length], 0o600))
		if v := inspector.inspect(path); v.Refused == "" || v.Crash != "" {
			t.Errorf("cut to %d bytes of %d: %+v", length, len(journal), v)
		}
		if n < 8 {
			wantRefusal(t, path, "check")
			wantRefusal(t, path, "serve")
		}
	}
}
