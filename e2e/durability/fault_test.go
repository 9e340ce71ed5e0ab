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
	name  string
	errno syscall.Errno
	hits  func(op faultfs.Op) bool
	// creates is the number of plants that are created while the fault may occur.
	creates int
	// lasting is the number of consecutive operations that fail.
	lasting int
	binary  string // of the server; empty: the regular program
}

// An outcome is the result of a fault.
type outcome struct {
	operation  string // the operation that failed
	response   string // the response of the server
	images     int
	violations []string
}

func (o *outcome) violate(format string, args ...any) {
	o.violations = append(o.violations, fmt.Sprintf(format, args...))
}

// failEach injects the fault at each possible operation, in turn.
func failEach(t *testing.T, f fault) {
	t.Helper()
	number := f.count(t)
	idle := newOpeners(t)
	var mu sync.Mutex
	outcomes, images := map[string]int{}, 0
	t.Cleanup(func() { // after the subtests
		t.Logf("%s failed %d times in turn, %d images opened:", f.name, number, images)
		for _, text := range slices.Sorted(maps.Keys(outcomes)) {
			t.Logf("%5d x %s", outcomes[text], text)
		}
	})
	for n := 1; n <= number; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			o := failOnce(t, idle, seed(t), f, n)
			for _, v := range o.violations {
				t.Errorf("seed %d, %s %d failed, %s: %s", seed(t), f.name, n, o.operation, v)
			}
			mu.Lock()
			defer mu.Unlock()
			outcomes[o.operation+": "+o.response]++
			images += o.images
		})
	}
}

// count returns the number of operations at which the fault can occur.
func (f fault) count(t *testing.T) (n int) {
	t.Helper()
	s := newSite(t, f.binary, seed(t))
	must.Do(t, s.start())
	s.load(1, f.creates)
	s.server.Kill()
	must.Do(t, s.start())
	s.server.Stop()
	for _, op := range s.fs.Log() {
		if f.hits(op) {
			n++
		}
	}
	return n
}

// failOnce injects the fault at the n-th possible operation. The server may exit; it is
// restarted on the same file system. Then the power is cut.
func failOnce(t testing.TB, idle openers, seed uint64, f fault, n int) (o outcome) {
	t.Helper()
	s := newSite(t, f.binary, seed)
	var failures atomic.Int64
	count := 0
	s.fs.SetFault(func(op faultfs.Op) syscall.Errno {
		if !f.hits(op) {
			return 0
		}
		if count++; count < n || count >= n+f.lasting {
			return 0
		}
		o.operation = cmp.Or(o.operation, describe(op))
		failures.Add(1)
		return f.errno
	})
	startAnyhow(s, &o, &failures)
	at := untilFault(s, &o, &failures, f.creates)
	endAnyhow(s, &o, &failures, n)
	restart := s.fs.Len()
	startAnyhow(s, &o, &failures)
	resume(s, &o, &failures)
	endAnyhow(s, &o, &failures, n+1)
	tr := newTrial(t, s, seed, restart)
	first := min(restart+10, len(tr.log)) // the end of the first commit after the restart, which meets the cache
	tr.cuts = slices.Concat(thin(every(at, restart), plantstore.Torture(12, 40)), every(restart+1, first), thin(every(first, len(tr.log)), plantstore.Torture(6, 90)))
	tr.variants = plantstore.Torture(3, 8)
	r := tr.run(t, idle)
	o.images, o.violations = r.images, append(o.violations, r.violations...)
	return o
}

// startAnyhow starts the server. It may exit instead, but only if there is a fault meanwhile.
func startAnyhow(s *site, o *outcome, failures *atomic.Int64) {
	s.t.Helper()
	for {
		before := failures.Load()
		err := s.start()
		switch {
		case err == nil:
			return
		case failures.Load() == before:
			s.t.Fatalf("%s failed %d times; the server does not start: %v", o.operation, before, err)
		case !strings.Contains(err.Error(), "exit status 1"):
			o.violate("it should end with exit status 1: %v", err)
		}
		o.response = cmp.Or(o.response, "it does not start")
	}
}

// untilFault creates plants until something fails, and some more. After an unknown outcome the
// server must accept no more creates. It returns the length of the log before the failed create.
func untilFault(s *site, o *outcome, failures *atomic.Int64, creates int) (at int) {
	s.t.Helper()
	at = s.fs.Len()
	stopped, left := false, more
	for n := 0; n < creates && left > 0; n++ {
		before := s.fs.Len()
		a := s.createNext()
		if o.response == "" && a.Outcome() != load.Created {
			o.response, at = a.String(), before
		}
		if stopped && a.Outcome() == load.Created {
			o.violate("it accepts plants after an unknown outcome")
		}
		stopped = stopped || saysUnknown(a)
		if failures.Load() > 0 {
			left--
		}
		if a.Err != nil {
			break
		}
	}
	return at
}

// endAnyhow kills the server, or, every other time, shuts it down. It may exit with code 1
// instead, but only if there has been a fault.
func endAnyhow(s *site, o *outcome, failures *atomic.Int64, n int) {
	s.t.Helper()
	if failures.Load() > 0 && n%2 == 0 {
		s.server.Kill()
		return
	}
	before := failures.Load()
	code := s.end()
	if code != 0 && code != 1 || code == 1 && failures.Load() == 0 {
		o.violate("after %d faults it ends with exit code %d:\n%s", failures.Load(), code, s.server.Log())
	}
	if failures.Load() > before {
		o.response = cmp.Or(o.response, fmt.Sprint("none; it ends with exit code ", code))
	}
}

// resume resends the plants that may be stored and half of the plants that are not, and
// sends new ones, until there is a new fault.
func resume(s *site, o *outcome, failures *atomic.Int64) {
	s.t.Helper()
	before := failures.Load()
	send := func(step string, id int64, plant models.Plant, again bool) {
		a := s.Create(id, plant)
		if a.Outcome() == load.Created || again && a.Outcome() == load.Identical || failures.Load() > before {
			return
		}
		o.violate("%s: %v", step, a)
	}
	for id, e := range s.Of(load.Doubtful) {
		send("a create whose outcome was unknown, again", id, e.Plant, true)
	}
	again := true
	for id, e := range s.Of(load.Absent) {
		if again = !again; again {
			send("a create that had failed, again", id, e.Plant, false)
		}
	}
	for range more {
		id, plant := next(s.random)
		send("after the fault", id, plant, false)
	}
}

// describe returns the purpose of an operation.
func describe(op faultfs.Op) string {
	switch {
	case op.Kind == faultfs.SyncDir:
		return "the sync of a directory"
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
