package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"plantstore/models"
	"plantstore/storage/bbolt"
)

// stored is the number of plants in a [catalogue].
const stored = 400

// catalogue returns the plants in the files that are going to be damaged.
func catalogue() map[int64]models.Plant {
	plants := map[int64]models.Plant{}
	for n := range int64(stored) {
		plant := models.Plant{Name: fmt.Sprintf("plant %d%s", n, strings.Repeat(" long", int(n%9*n%40)))}
		if n%50 == 0 {
			plant.Name = strings.Repeat("longer than a page ", 400)
		}
		if n%2 == 0 {
			tag := fmt.Sprint("tag ", n%10)
			plant.Tag = &tag
		}
		plants[(n-stored/2)<<54+n] = plant
	}
	return plants
}

// A verdict is what came of looking into a file.
type verdict struct {
	Refused string   `json:"refused"` // why the file was not opened
	Damage  []string `json:"damage"`  // what the check found
	Missing int      `json:"missing"` // plants that were not served
	Wrong   []string `json:"wrong"`   // plants that were served and never stored
	Crash   string   `json:"-"`       // how the process ended, if it did
}

// reported reports whether the file is said to be damaged.
func (v verdict) reported() bool { return v.Refused != "" || len(v.Damage) > 0 }

// inspect does to the file path what plantstore check does, and then reads all
// plants in each way.
func inspect(path string, plants map[int64]models.Plant) (v verdict) {
	store, err := bbolt.OpenReadOnly(path)
	if err != nil {
		return verdict{Refused: err.Error(), Missing: len(plants)}
	}
	defer func() { _ = store.Close() }()
	ctx := context.Background()
	report, err := store.Check(ctx)
	if err != nil {
		report.Add("the check failed: %v", err)
	}
	v.Damage = report.Damage
	for record, err := range store.List(ctx, math.MinInt64) {
		if want, there := plants[record.ID]; err == nil && (!there || !want.Equal(record.Plant)) {
			v.Wrong = append(v.Wrong, fmt.Sprintf("List: %d %.40q", record.ID, record.Plant.Name))
		}
	}
	for id, want := range plants {
		switch got, err := store.Get(ctx, id); {
		case err != nil:
			v.Missing++
		case !want.Equal(got):
			v.Wrong = append(v.Wrong, fmt.Sprintf("Get: %d %.40q", id, got.Name))
		}
	}
	return v
}

// inspectFiles inspects each file that is named on a line of in, and writes a
// verdict for each.
func inspectFiles(in io.Reader, out io.Writer) (code int) {
	plants, answers := catalogue(), json.NewEncoder(out)
	paths := bufio.NewScanner(in)
	for paths.Scan() {
		if err := answers.Encode(inspect(paths.Text(), plants)); err != nil {
			return 1
		}
	}
	return 0
}

// An inspector has a process that inspects files, since a damaged one could end
// it.
type inspector struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *json.Decoder
	stderr strings.Builder
}

// newInspector returns an inspector that lasts until the end of the test.
func newInspector(t testing.TB) *inspector {
	t.Helper()
	i := new(inspector)
	t.Cleanup(func() { _ = i.stop() })
	return i
}

// start starts the process if there is none.
func (i *inspector) start() error {
	if i.cmd != nil {
		return nil
	}
	cmd := exec.CommandContext(context.Background(), os.Args[0]) //nolint:gosec // this test itself
	cmd.Env = append(os.Environ(), inspectorEnv+"=1")
	i.stderr.Reset()
	cmd.Stderr = &i.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	i.cmd, i.in, i.out = cmd, in, json.NewDecoder(out)
	return cmd.Start()
}

// stop ends the process and returns how it ended.
func (i *inspector) stop() error {
	if i.cmd == nil {
		return nil
	}
	err := errors.Join(i.in.Close(), i.cmd.Wait())
	i.cmd = nil
	return err
}

// inspect is the function inspect, in the process.
func (i *inspector) inspect(t testing.TB, path string) (v verdict) {
	t.Helper()
	must(t, i.start())
	watchdog := time.AfterFunc(patience/6, func() { _ = i.cmd.Process.Kill() })
	defer watchdog.Stop()
	_, _ = fmt.Fprintln(i.in, path) // if it fails, so does the next
	if err := i.out.Decode(&v); err != nil {
		err := i.stop()
		return verdict{Crash: fmt.Sprintf("%v: %.200s", err, i.stderr.String())}
	}
	return v
}
