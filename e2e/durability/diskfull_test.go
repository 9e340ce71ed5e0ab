package durability

import (
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/load"
	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
	"plantstore/models"
)

// TestFullDisk makes the disk full from each operation on that needs space, of a server that
// creates its files and some plants. While the disk is full, a plant either fits into existing
// pages or is error 507. When there is space again, the same process accepts all plants. One of the
// file systems writes in place; the other never does, so that each page needs space.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	inPlace := fault{
		name: "space", errno: syscall.ENOSPC, hits: func(op faultfs.Op) bool { return op.TakesSpace },
		creates: plantstore.Torture(100, 300),
	}
	elsewhere := inPlace
	elsewhere.hits = func(op faultfs.Op) bool { return op.TakesSpace || isPageWrite(op) }
	elsewhere.creates = plantstore.Torture(10, 60)
	for name, f := range map[string]fault{"in place": inPlace, "never in place": elsewhere} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testFullDisk(t, f)
		})
	}
}

func testFullDisk(t *testing.T, f fault) {
	t.Helper()
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
				t.Errorf("seed %d, full from operation %d on, %s: %s", seed(t), n, o.operation, v)
			}
			images.Add(int64(o.images))
			if o.response != "" {
				refusals.Add(1)
			}
		})
	}
}

// fillDisk makes the disk full from operation n on that needs space.
func fillDisk(t testing.TB, idle openers, seed uint64, f fault, n int) (o outcome) {
	t.Helper()
	s := newSite(t, f.binary, seed)
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
			o.operation = describe(op)
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
	resume(s, &o, new(atomic.Int64))
	s.server.Stop()
	tr := newTrial(t, s, seed, ready)
	tr.cuts, tr.variants = thin(every(ready, len(tr.log)), plantstore.Torture(20, 200)), plantstore.Torture(4, 12)
	r := tr.run(t, idle)
	o.images, o.violations = r.images, append(o.violations, r.violations...)
	return o
}

// startOnFull starts the server. If there is no space for that, it must exit, and start once
// there is space.
func startOnFull(s *site, o *outcome, full, freed *atomic.Bool) {
	s.t.Helper()
	if err := s.start(); err == nil {
		return
	} else if !full.Load() {
		s.t.Fatal(err)
	}
	freed.Store(true)
	if err := s.start(); err != nil {
		o.violate("it does not start although there is space again: %v", err)
	}
}

// createOnFull creates plants, possibly without space for them.
func createOnFull(s *site, o *outcome, full *atomic.Bool, creates int) {
	s.t.Helper()
	for range creates {
		a := s.createNext()
		switch {
		case a.Outcome() == load.Created:
		case !full.Load():
			s.t.Fatalf("a create on a healthy disk: %v", a)
		case a.Code != models.CodeInsufficientSpace || a.Outcome() != load.Refused:
			o.violate("on a full disk: %v", a)
		default:
			o.response = a.String()
		}
	}
}

// TestFullDiskDuringBackup backs up a store while its disk is full. The copy, on another
// disk, may fail; the server continues, and accepts plants once there is space.
func TestFullDiskDuringBackup(t *testing.T) {
	t.Parallel()
	for _, free := range []int{0, 1, 2, 3, 5, 8, 16} { // writes to the database that still succeed
		s := newSite(t, "", seed(t))
		must.Do(t, s.start())
		s.load(1, 20)
		writes := 0
		s.fs.SetFault(func(op faultfs.Op) syscall.Errno {
			if !isPageWrite(op) {
				return 0
			}
			if writes++; writes > free {
				return syscall.ENOSPC
			}
			return 0
		})
		code, out := plantstore.Finish(t, plantstore.Command(t, t.TempDir(), []string{"STORAGE_URL=" + s.url()}, "backup", "copy.db"))
		if code != 0 && !strings.Contains(out, "space") {
			t.Errorf("space for %d writes: exit code %d\n%s", free, code, out)
		}
		s.fs.SetFault(nil)
		if a := s.createNext(); a.Outcome() != load.Created {
			t.Errorf("space for %d writes, then for all: %v", free, a)
		}
		s.server.Stop()
	}
}

// TestFullDiskAtClose has no space for the first writes to the database while a server shuts down:
// it needs none. The next server has all plants.
func TestFullDiskAtClose(t *testing.T) {
	t.Parallel()
	for failing := range 6 {
		s := newSite(t, "", seed(t))
		must.Do(t, s.start())
		s.load(1, 5)
		left := failing
		s.fs.SetFault(func(op faultfs.Op) syscall.Errno {
			if !isPageWrite(op) || left == 0 {
				return 0
			}
			left--
			return syscall.ENOSPC
		})
		if code := s.end(); code != 0 {
			t.Errorf("no space for %d writes: exit code %d", failing-left, code)
		}
		s.fs.SetFault(nil)
		must.Do(t, s.start())
		s.repeat(load.Stored)
		s.server.Stop()
		for _, contradiction := range s.Contradictions() {
			t.Errorf("no space for %d writes at the shutdown: %s", failing, contradiction)
		}
	}
}
