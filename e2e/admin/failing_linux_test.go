package admin

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/plantstore"
)

// TestReadyOnBadDisk checks that a server is not ready from the first refused create on while the
// disk is full, from the beginning if it starts on a full disk, and recovers by itself when there is
// space. Small creates, for which the file has space, make no difference. A failed sync stops the
// store.
func TestReadyOnBadDisk(t *testing.T) {
	t.Parallel()
	fs := faultfs.Mount(t)
	options := plantstore.Options{Env: []string{
		"STORAGE_URL=bbolt:" + fs.Dir + "/plants.db", "JWT_SECRET=a secret of the tests, long enough for HS256",
		"SHUTDOWN_TIMEOUT=1m",
	}}
	s, id := newSite(t, options), 0
	create := func(name string) plantstore.Reply {
		id++
		return s.Post(s.token, fmt.Sprintf(`{"id":%d,"name":"%s"}`, id, name))
	}
	long := strings.Repeat("long", 8000)
	for _, restart := range []bool{false, true} {
		fs.SetFault(func(op faultfs.Op) syscall.Errno {
			if op.TakesSpace {
				return syscall.ENOSPC
			}
			return 0
		})
		plantstore.Await(t, "a create is refused", func() bool { return create(long).Code == http.StatusInsufficientStorage })
		if restart {
			s.Stop()
			s = newSite(t, options)
		}
		for end := time.Now().Add(5 * time.Second / 2); time.Now().Before(end); { // two probes of the store
			s.wantUnready("no space is left for the database")
			create("small")
			time.Sleep(10 * time.Millisecond)
		}
		fs.SetFault(nil)
		plantstore.Await(t, "ready again", func() bool { return s.Get(s.AdminURL+"/readyz").Status == http.StatusOK })
		if a := create(long); a.Status != http.StatusOK {
			t.Errorf("a create after that: %d %s", a.Status, a.Body)
		}
	}

	s.wantStop(1, "the disk or the database file has failed: the store stopped itself after a fault", func() {
		fs.SetFault(func(op faultfs.Op) syscall.Errno {
			if op.IsSync() {
				return syscall.EIO
			}
			return 0
		})
		create("lost")
	})
}
