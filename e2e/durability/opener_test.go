package durability

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/reexec"
	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

const (
	// patience bounds every wait; it is far above the usual duration.
	patience = time.Minute

	// The paths of the server's files, relative to the root of the file system.
	databaseFile = "data/plants.db"
	secretFile   = "data/jwt-secret"
)

// A verdict is the result of opening the store in an image.
type verdict struct {
	Plants map[int64]models.Plant `json:"plants"`
	Error  string                 `json:"error"`
}

// open returns the verdict on the store in a file.
func open(path string) (v verdict) {
	plants, err := tryStore(path)
	if err != nil {
		return verdict{Plants: plants, Error: err.Error()}
	}
	return verdict{Plants: plants}
}

// tryStore opens the store in a file and returns its plants. It must accept more plants, and
// still have all after that: only this reveals a broken list of free pages. A sampled store is
// opened for reading before that.
func tryStore(path string) (plants map[int64]models.Plant, err error) {
	var read map[int64]models.Plant
	if _, err := os.Stat(path); err == nil && strings.Contains(path, sampledName) {
		if read, err = reading(path); err != nil {
			return nil, err
		}
	}
	plants, want, err := writing(path)
	if err != nil {
		return plants, err
	}
	if read != nil && !maps.EqualFunc(read, plants, models.Plant.Equal) {
		return plants, errors.New("when opened for reading, the store has other plants")
	}
	switch got, err := reading(path); {
	case err != nil:
		return plants, fmt.Errorf("again: %w", err)
	case !maps.EqualFunc(got, want, models.Plant.Equal):
		return plants, errors.New("after it was closed, the store has other plants")
	}
	return plants, nil
}

// writing opens the store in a file for writing. It returns its plants, and the plants after
// some more creates.
func writing(path string) (plants, want map[int64]models.Plant, err error) {
	store, err := bbolt.OpenFile(path, storage.Options{})
	if err != nil {
		return nil, nil, fmt.Errorf("open: %w", err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if plants, err = list(store); err != nil {
		return nil, nil, fmt.Errorf("list: %w", err)
	}
	want = maps.Clone(plants)
	for n := range int64(12) {
		id, plant := math.MinInt64+n*n*n<<50, models.Plant{Name: strings.Repeat("new", int(n*n))}
		if err := store.Create(context.Background(), id, plant); err != nil {
			return nil, nil, fmt.Errorf("create: %w", err)
		}
		want[id] = plant
	}
	switch got, err := list(store); {
	case err != nil:
		return nil, nil, fmt.Errorf("list after more creates: %w", err)
	case !maps.EqualFunc(got, want, models.Plant.Equal):
		return nil, nil, errors.New("after more creates the store has other plants")
	}
	return plants, want, nil
}

// reading opens the store in a file for reading and returns its plants.
func reading(path string) (plants map[int64]models.Plant, err error) {
	store, err := bbolt.OpenFile(path, storage.Options{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("open for reading: %w", err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return list(store)
}

func list(store *storage.Store) (map[int64]models.Plant, error) {
	plants := map[int64]models.Plant{}
	for record, err := range store.List(context.Background(), math.MinInt64) {
		if err != nil {
			return nil, err
		}
		plants[record.ID] = record.Plant
	}
	return plants, nil
}

// An opener opens images in another process, since a corrupt image could crash it.
type opener struct {
	dir    string // directory of the images
	worker reexec.Worker
}

// openers are the idle openers. Starting one takes longer than opening an image.
type openers chan *opener

// newOpeners returns some openers that last until the end of the test.
func newOpeners(t testing.TB) openers {
	t.Helper()
	const processes = 2
	idle := make(openers, processes)
	for range processes {
		idle <- newOpener(t)
	}
	return idle
}

// open opens the store in an image.
func (idle openers) open(image faultfs.Image, sampled bool) (verdict, error) {
	o := <-idle
	defer func() { idle <- o }()
	return o.open(image, sampled)
}

// The images are in a directory in memory, with this prefix.
const (
	memory     = "/dev/shm"
	imagesName = "plantstore-images-"
	// sampledName is in the path of an image that is opened in additional ways.
	sampledName = "sampled-"
)

// removeStale removes the images of tests that were killed, by their age.
func removeStale() {
	dirs, _ := filepath.Glob(filepath.Join(memory, imagesName+"*"))
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(dir)
		}
	}
}

// newOpener returns an opener that lasts until the end of the test.
func newOpener(t testing.TB) *opener {
	t.Helper()
	removeStale()
	// Memory is much faster than a disk, and equivalent here.
	dir, err := os.MkdirTemp(memory, imagesName) //nolint:usetesting // that is on a disk
	if err != nil {
		dir = t.TempDir()
	}
	o := &opener{dir: dir}
	t.Cleanup(func() {
		_ = o.worker.Close()
		_ = os.RemoveAll(dir)
	})
	return o
}

// open opens the store in an image.
func (o *opener) open(image faultfs.Image, sampled bool) (verdict, error) {
	pattern := ""
	if sampled {
		pattern = sampledName
	}
	dir, err := os.MkdirTemp(o.dir, pattern)
	if err != nil {
		return verdict{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := image.Write(dir); err != nil {
		return verdict{}, err
	}
	var v verdict
	if err := o.worker.Inspect(filepath.Join(dir, databaseFile), patience, &v); err != nil {
		return verdict{Error: err.Error()}, nil
	}
	return v, nil
}
