package durability

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/reexec"
	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// The paths of the server's files, relative to the root of the file system.
const (
	databaseFile = "data/plants.db"
	secretFile   = "data/jwt-secret"
)

// A verdict is the result of opening the store in an image.
type verdict struct {
	Plants plants
	Error  string
}

// open returns the verdict on the store in a file.
func open(path string) verdict {
	found, err := tryStore(path)
	if err != nil {
		return verdict{Error: err.Error()}
	}
	return verdict{Plants: found}
}

type plants = map[int64]models.Plant

func same(a, b plants) bool { return maps.EqualFunc(a, b, models.Plant.Equal) }

// tryStore opens the store in a file and returns its plants. It must accept more plants, and
// still have all after that: only this reveals a broken list of free pages. A sampled store is
// opened for reading before that.
func tryStore(path string) (found plants, err error) {
	var read plants
	if _, err := os.Stat(path); err == nil && strings.Contains(path, sampledName) {
		if read, err = reading(path); err != nil {
			return nil, err
		}
	}
	found, want, err := writing(path)
	if err != nil {
		return nil, err
	}
	if read != nil && !same(read, found) {
		return nil, errors.New("when opened for reading, the store has other plants")
	}
	switch got, err := reading(path); {
	case err != nil:
		return nil, fmt.Errorf("again: %w", err)
	case !same(got, want):
		return nil, errors.New("after it was closed, the store has other plants")
	}
	return found, nil
}

// writing opens the store in a file for writing. It returns its plants, and the plants after
// some more creates.
func writing(path string) (found, want plants, err error) {
	store, err := bbolt.OpenFile(path, storage.Options{})
	if err != nil {
		return nil, nil, fmt.Errorf("open: %w", err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if found, err = list(store); err != nil {
		return nil, nil, fmt.Errorf("list: %w", err)
	}
	want = maps.Clone(found)
	for n := range int64(12) {
		id, plant := math.MinInt64+n*n*n<<50, models.Plant{Name: strings.Repeat("new", int(n*n))}
		if err := store.Create(context.Background(), id, plant); err != nil {
			return nil, nil, fmt.Errorf("create: %w", err)
		}
		want[id] = plant
	}
	if got, err := list(store); err != nil || !same(got, want) {
		return nil, nil, fmt.Errorf("after more creates the store has other plants, %w", err)
	}
	return found, want, nil
}

// reading opens the store in a file for reading and returns its plants.
func reading(path string) (found plants, err error) {
	store, err := bbolt.OpenFile(path, storage.Options{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("open for reading: %w", err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return list(store)
}

func list(store *storage.Store) (plants, error) {
	found := plants{}
	for record, err := range store.List(context.Background(), math.MinInt64) {
		if err != nil {
			return nil, err
		}
		found[record.ID] = record.Plant
	}
	return found, nil
}

// The openers are idle processes that open images: a corrupt image could crash a process, and starting
// one takes longer than opening an image.
type openers chan *reexec.Worker

// newOpeners returns some openers that last until the end of the test.
func newOpeners(t testing.TB) openers {
	t.Helper()
	const processes = 2
	idle := make(openers, processes)
	for range processes {
		worker := new(reexec.Worker)
		t.Cleanup(func() { _ = worker.Close() })
		idle <- worker
	}
	return idle
}

// sampledName is in the path of an image that is opened in additional ways.
const sampledName = "sampled-"

// open opens the store in an image.
func (idle openers) open(image faultfs.Image, sampled bool) (v verdict) {
	worker := <-idle
	defer func() { idle <- worker }()
	pattern := "plantstore-image-"
	if sampled {
		pattern += sampledName
	}
	dir, err := os.MkdirTemp("/dev/shm", pattern) // memory is much faster than a disk, and equivalent here
	defer func() { _ = os.RemoveAll(dir) }()
	if err := cmp.Or(err, image.Write(dir)); err != nil {
		return verdict{Error: fmt.Sprint("the image was not opened: ", err)}
	}
	if err := worker.Inspect(filepath.Join(dir, databaseFile), plantstore.Patience, &v); err != nil {
		return verdict{Error: err.Error()}
	}
	return v
}
