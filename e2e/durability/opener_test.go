package durability

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/faultfs"
	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

const (
	// openerEnv makes the test process one that opens stores.
	openerEnv = "DURABILITY_OPENER"
	// patience bounds every wait, far above what any should take.
	patience = time.Minute

	// Where the server has its files, from the root of the file system.
	databaseFile = "data/plants.db"
	secretFile   = "data/jwt-secret" //nolint:gosec // the name of a file
)

// A verdict is what came of opening the store in an image.
type verdict struct {
	Plants map[int64]models.Plant `json:"plants"`
	Error  string                 `json:"error"`
}

// serveImages opens the store in each file that is named on a line of in, and
// writes a verdict for each. It runs in a process of its own, since a damaged
// file can end a process.
func serveImages(in io.Reader, out io.Writer) (code int) {
	answers := json.NewEncoder(out)
	paths := bufio.NewScanner(in)
	for paths.Scan() {
		plants, err := open(paths.Text())
		v := verdict{Plants: plants}
		if err != nil {
			v.Error = err.Error()
		}
		if err := answers.Encode(v); err != nil {
			return 1
		}
	}
	return 0
}

// open opens the store in a file and returns its plants. It must take more of
// them, and still have all after that: a broken list of free pages shows only
// then.
func open(path string) (plants map[int64]models.Plant, err error) {
	store, err := bbolt.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if plants, err = list(store); err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	want := maps.Clone(plants)
	for n := range int64(12) {
		id, plant := math.MinInt64+n*n*n<<50, models.Plant{Name: strings.Repeat("new", int(n*n))}
		if err := store.Create(context.Background(), id, plant); err != nil {
			return nil, fmt.Errorf("create: %w", err)
		}
		want[id] = plant
	}
	switch got, err := list(store); {
	case err != nil:
		return nil, fmt.Errorf("list after more creates: %w", err)
	case !maps.EqualFunc(got, want, models.Plant.Equal):
		return nil, errors.New("after more creates the store holds other plants")
	}
	return plants, nil
}

func list(store storage.Store) (map[int64]models.Plant, error) {
	plants := map[int64]models.Plant{}
	for record, err := range store.List(context.Background(), math.MinInt64) {
		if err != nil {
			return nil, err
		}
		plants[record.ID] = record.Plant
	}
	return plants, nil
}

// An opener has a process that opens images.
type opener struct {
	dir    string // where images are put
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *json.Decoder
	stderr strings.Builder
}

// openers are those that are not busy. Starting one takes longer than opening an
// image.
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
func (idle openers) open(image faultfs.Image) (verdict, error) {
	o := <-idle
	defer func() { idle <- o }()
	return o.open(image)
}

// newOpener returns an opener that lasts until the end of the test.
func newOpener(t testing.TB) *opener {
	t.Helper()
	// Memory is much faster than a disk, and as good here.
	dir, err := os.MkdirTemp("/dev/shm", "plantstore-images-") //nolint:usetesting // that is on a disk
	if err != nil {
		dir = t.TempDir()
	}
	o := &opener{dir: dir}
	t.Cleanup(func() {
		_ = o.stop()
		_ = os.RemoveAll(dir)
	})
	return o
}

// start starts the process if there is none.
func (o *opener) start() error {
	if o.cmd != nil {
		return nil
	}
	cmd := exec.CommandContext(context.Background(), os.Args[0]) //nolint:gosec // this test itself
	cmd.Env = append(os.Environ(), openerEnv+"=1")
	o.stderr.Reset()
	cmd.Stderr = &o.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	o.cmd, o.in, o.out = cmd, in, json.NewDecoder(out)
	return nil
}

// stop ends the process and returns how it ended.
func (o *opener) stop() error {
	if o.cmd == nil {
		return nil
	}
	_ = o.in.Close()
	err := o.cmd.Wait()
	o.cmd = nil
	return err
}

// open opens the store in an image.
func (o *opener) open(image faultfs.Image) (verdict, error) {
	dir, err := os.MkdirTemp(o.dir, "")
	if err != nil {
		return verdict{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := errors.Join(image.Write(dir), o.start()); err != nil {
		return verdict{}, err
	}
	watchdog := time.AfterFunc(patience, func() { _ = o.cmd.Process.Kill() })
	defer watchdog.Stop()
	_, _ = fmt.Fprintln(o.in, filepath.Join(dir, databaseFile)) // if it fails, so does the next
	var v verdict
	if err := o.out.Decode(&v); err != nil {
		err = o.stop()
		return verdict{Error: fmt.Sprintf("the process that opened it ended: %v\n%s", err, &o.stderr)}, nil
	}
	return v, nil
}
