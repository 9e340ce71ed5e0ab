package admin

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/plantstore"
)

// TestReadyOnFullDisk checks that a server without disk space for a create is not ready
// while the disk is full, with one create or none, and recovers by itself when there is space.
// For a disk that fails a sync, see TestExitAfterFault in e2e/durability.
func TestReadyOnFullDisk(t *testing.T) {
	t.Parallel()
	fs := faultfs.Mount(t)
	s := newSite(t, plantstore.Options{Env: []string{
		"STORAGE_URL=bbolt:" + fs.Dir + "/plants.db", "JWT_SECRET=a secret of the tests, long enough for HS256",
	}})
	var failed atomic.Int64
	fs.SetFault(func(op faultfs.Op) syscall.Errno {
		if op.TakesSpace {
			failed.Add(1)
			return syscall.ENOSPC
		}
		return 0
	})
	id, end := 0, time.Now().Add(patience)
	for full := false; !full; { // free pages of the database have some space
		id++
		a := s.create(fmt.Sprintf(`{"id":%d,"name":"%s"}`, id, strings.Repeat("long", 8000)))
		full = a.Status != http.StatusOK
		if full && a.Code != http.StatusInsufficientStorage || time.Now().After(end) {
			t.Fatalf("create %d on a full disk: %d %s", id, a.Status, a.Body)
		}
	}
	for before := failed.Load(); failed.Load() < before+3; { // interval of three probes
		s.wantUnready("the store is not available")
		if time.Now().After(end) {
			t.Fatalf("the store has tried %d times", failed.Load()-before)
		}
		time.Sleep(10 * time.Millisecond) // state of another process
	}
	s.wantUnready("the store is not available")
	fs.SetFault(nil)
	s.await("ready again", func() bool { return s.probe("/readyz").Status == http.StatusOK })
	if a := s.create(fmt.Sprintf(`{"id":%d,"name":"Monstera"}`, id)); a.Status != http.StatusOK {
		t.Errorf("a create after that: %d %s", a.Status, a.Body)
	}
}
