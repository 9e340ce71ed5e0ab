package durability

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/load"
	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
	"plantstore/models"
)

// more is the number of creates after a fault.
const more = 8

// A fault is a failure of certain operations.
type fault struct {
	errno   syscall.Errno
	hits    func(op faultfs.Op) bool
	creates int                     // plants that are created while the fault may occur
	lasting int                     // consecutive operations that fail
	binary  string                  // of the server; empty: the regular program
	test    func(a *attempt, n int) // what happens with the fault at the nth operation that it hits
}

// An attempt is a site with a fault, and what came of it.
type attempt struct {
	*site
	fault

	idle       openers
	failures   atomic.Int64 // operations that have failed
	operation  string       // the first of them
	response   string       // of the server
	images     int
	violations []string
}

func (a *attempt) violate(format string, args ...any) {
	a.violations = append(a.violations, fmt.Sprintf(format, args...))
}

// testAt tests the fault at the nth operation that it hits.
func (f fault) testAt(t testing.TB, idle openers, seed uint64, n int) *attempt {
	t.Helper()
	a := &attempt{site: newSite(t, f.binary, seed), fault: f, idle: idle}
	count := 0
	a.fs.SetFault(func(op faultfs.Op) syscall.Errno {
		if !f.hits(op) {
			return 0
		}
		if count++; count < n || count-n >= f.lasting {
			return 0
		}
		a.operation = cmp.Or(a.operation, describe(op))
		a.failures.Add(1)
		return f.errno
	})
	f.test(a, n)
	return a
}

// testEach tests the fault at each operation, in turn.
func (f fault) testEach(t *testing.T) {
	t.Helper()
	number, idle := f.count(t), newOpeners(t)
	var mu sync.Mutex
	outcomes, images := map[string]int{}, 0
	t.Cleanup(func() { // after the subtests
		t.Logf("%d operations failed in turn, %d images opened:", number, images)
		for _, text := range slices.Sorted(maps.Keys(outcomes)) {
			t.Logf("%5d x %s", outcomes[text], text)
		}
	})
	for n := 1; n <= number; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			a := f.testAt(t, idle, plantstore.Seed(t), n)
			for _, v := range a.violations {
				t.Errorf("seed %d, operation %d failed, %s: %s", a.seed, n, a.operation, v)
			}
			mu.Lock()
			defer mu.Unlock()
			outcomes[a.operation+": "+a.response]++
			images += a.images
		})
	}
}

// count returns the number of operations at which the fault can occur.
func (f fault) count(t *testing.T) (n int) {
	t.Helper()
	s := newSite(t, f.binary, plantstore.Seed(t))
	must.Do(t, s.start())
	s.load(1, f.creates)
	s.Server.Kill()
	must.Do(t, s.start())
	s.Server.Stop()
	for _, op := range s.fs.Log() {
		if f.hits(op) {
			n++
		}
	}
	return n
}

// restartAndCutPower lets the server exit, or ends it, and restarts it on the same file system. Then
// the power is cut.
func restartAndCutPower(a *attempt, n int) {
	a.startAnyhow()
	at := a.untilFault()
	a.endAnyhow(n)
	restart := a.fs.Len()
	a.startAnyhow()
	a.resume()
	a.endAnyhow(n + 1)
	end := a.fs.Len()
	first := min(restart+10, end) // the end of the first commit after the restart, which meets the cache
	a.cutPower(restart, plantstore.Torture(3, 8), slices.Concat(thin(every(at, restart), plantstore.Torture(12, 40)),
		every(restart+1, first), thin(every(first, end), plantstore.Torture(6, 90))))
}

// cutPower cuts the power at these lengths of the log.
func (a *attempt) cutPower(ready, variants int, cuts []int) {
	a.t.Helper()
	r := a.trial(ready, variants, cuts).run(a.t, a.idle)
	a.images, a.violations = r.images, append(a.violations, r.violations...)
}

// startAnyhow starts the server. It may exit instead, but only if there is a fault meanwhile.
func (a *attempt) startAnyhow() {
	a.t.Helper()
	for {
		before := a.failures.Load()
		err := a.start()
		switch {
		case err == nil:
			return
		case a.failures.Load() == before:
			a.t.Fatalf("%s failed %d times; the server does not start: %v", a.operation, before, err)
		case !strings.Contains(err.Error(), "exit status 1"):
			a.violate("it should end with exit status 1: %v", err)
		}
		a.response = cmp.Or(a.response, "it does not start")
	}
}

// untilFault creates plants until something fails, and some more. After an unknown outcome the
// server must accept no more creates. It returns the length of the log before the failed create.
func (a *attempt) untilFault() (at int) {
	a.t.Helper()
	at = a.fs.Len()
	stopped, left := false, more
	for n := 0; n < a.creates && left > 0; n++ {
		before := a.fs.Len()
		r := a.createNext()
		if a.response == "" && r.Outcome() != load.Created {
			a.response, at = r.String(), before
		}
		if stopped && r.Outcome() == load.Created {
			a.violate("it accepts plants after an unknown outcome")
		}
		stopped = stopped || saysUnknown(r)
		if a.failures.Load() > 0 {
			left--
		}
		if r.Err != nil {
			break
		}
	}
	return at
}

// endAnyhow kills the server, or, every other time, shuts it down. It may exit with code 1
// instead, but only if there has been a fault.
func (a *attempt) endAnyhow(n int) {
	a.t.Helper()
	before := a.failures.Load()
	if before > 0 && n%2 == 0 {
		a.Server.Kill()
		return
	}
	code := a.end()
	if code != 0 && (code != 1 || a.failures.Load() == 0) {
		a.violate("after %d faults it ends with exit code %d:\n%s", a.failures.Load(), code, a.Server.Log())
	}
	if a.failures.Load() > before {
		a.response = cmp.Or(a.response, fmt.Sprint("none; it ends with exit code ", code))
	}
}

// resume resends the plants that may be stored and half of the plants that are not, and
// sends new ones, until there is a new fault.
func (a *attempt) resume() {
	a.t.Helper()
	before := a.failures.Load()
	send := func(step string, id int64, plant models.Plant, again bool) {
		r := a.Create(id, plant)
		if r.Outcome() != load.Created && (!again || r.Outcome() != load.Identical) && a.failures.Load() == before {
			a.violate("%s: %v", step, r)
		}
	}
	for id, e := range a.Of(load.Doubtful) {
		send("a create whose outcome was unknown, again", id, e.Plant, true)
	}
	again := true
	for id, e := range a.Of(load.Absent) {
		if again = !again; again {
			send("a create that had failed, again", id, e.Plant, false)
		}
	}
	for range more {
		id, plant := next(a.random)
		send("after the fault", id, plant, false)
	}
}

// describe returns the purpose of an operation.
func describe(op faultfs.Op) string {
	switch {
	case isMetaWrite(op):
		return "a meta page"
	case isPageWrite(op) && op.TakesSpace:
		return "a page that is new"
	case isPageWrite(op):
		return "a page that was free"
	case onDatabase(op):
		return fmt.Sprintf("%s (database)", op.Kind)
	}
	return fmt.Sprintf("%s (another file)", op.Kind)
}

// onDatabase reports whether an operation is on the database, which may have a temporary name: that
// contains the final one.
func onDatabase(op faultfs.Op) bool { return strings.Contains(op.File, filepath.Base(databaseFile)) }

// isPageWrite reports whether an operation writes pages of the database other than a meta page.
func isPageWrite(op faultfs.Op) bool {
	return op.Kind == faultfs.Write && onDatabase(op) && !isMetaWrite(op)
}

// isMetaWrite reports whether an operation writes one of the first two pages of the database, the
// meta pages, as a commit does. Each start writes both at once.
func isMetaWrite(op faultfs.Op) bool {
	const page = 4096
	return op.Kind == faultfs.Write && onDatabase(op) && op.Offset < 2*page && len(op.Data) == page
}

// failing returns a fault of all operations that match.
func failing(errno syscall.Errno, matches func(op faultfs.Op) bool) faultfs.Fault {
	return func(op faultfs.Op) syscall.Errno {
		if matches(op) {
			return errno
		}
		return 0
	}
}
