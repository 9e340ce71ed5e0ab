package durability

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/plantstore"
)

// TestFullDisk lets the disk be full from each operation on that needs room, of
// all that a server does which makes its files and creates some plants. While it
// is full a plant may find room in what is there, or is error 507. Once it is
// not, everything is accepted again, by the same process.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	takesSpace := func(op faultfs.Op) bool { return op.TakesSpace }
	f := fault{name: "room", errno: syscall.ENOSPC, hits: takesSpace, creates: plantstore.Torture(100, 300)}
	number := f.count(t)
	idle := newOpeners(t)
	var images, refusals atomic.Int64
	t.Cleanup(func() { // after the subtests
		t.Logf("full from %d operations on in turn, %d times while plants were created; %d images opened",
			number, refusals.Load(), images.Load())
	})
	for n := 1; n <= number; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			o := fillDisk(t, idle, seed(t), f, n)
			for _, v := range o.violations {
				t.Errorf("seed %d, full from operation %d on, %s: %s", seed(t), n, o.what, v)
			}
			images.Add(int64(o.images))
			if o.told != "" {
				refusals.Add(1)
			}
		})
	}
}

// fillDisk makes the disk full from operation n on that needs room.
func fillDisk(t testing.TB, idle openers, seed uint64, f fault, n int) (o outcome) {
	t.Helper()
	s := newSite(t, "", seed)
	var full, freed atomic.Bool
	count := 0
	s.fs.SetFault(func(op faultfs.Op) syscall.Errno {
		if f.hits(op) {
			count++
		}
		if !f.hits(op) || count < n || freed.Load() {
			return 0
		}
		if count == n {
			o.what = describe(op)
		}
		full.Store(true)
		return f.errno
	})
	startOnFull(s, &o, &full, &freed)
	if s.server == nil {
		return o
	}
	ready := s.fs.Len()
	createOnFull(s, &o, &full, f.creates)
	freed.Store(true)
	goOn(s, &o, new(atomic.Int64))
	s.server.Stop()
	o.violations = append(o.violations, s.ledger.lies...)
	tr := newTrial(t, s, seed, ready)
	tr.cuts, tr.variants = thin(every(ready, len(tr.log)), plantstore.Torture(20, 200)), plantstore.Torture(4, 12)
	r := tr.run(t, idle)
	o.images, o.violations = r.images, append(o.violations, r.violations...)
	return o
}

// startOnFull starts the server. If there is no room for that, it must end, and
// start once there is.
func startOnFull(s *site, o *outcome, full, freed *atomic.Bool) {
	s.t.Helper()
	if err := s.start(); err == nil {
		return
	} else if !full.Load() {
		s.t.Fatal(err)
	}
	freed.Store(true)
	if err := s.start(); err != nil {
		o.violate("it does not start though there is room again: %v", err)
	}
}

// createOnFull creates plants, also while there may be no room for them.
func createOnFull(s *site, o *outcome, full *atomic.Bool, creates int) {
	s.t.Helper()
	for range creates {
		a := s.createNext()
		switch {
		case a.status == ok:
		case !full.Load():
			s.t.Fatalf("a create on a good disk: %v", a)
		case a.code != noSpace || a.fate() != absent:
			o.violate("on a full disk: %v", a)
		default:
			o.told = a.String()
		}
	}
}
