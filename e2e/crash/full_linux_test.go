package crash

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"plantstore/e2e/internal/volume"
	"plantstore/storage/bbolt/journal"
)

// TestFullFileSystem fills a small file system, first by plants and then by another file.
// Plants without space are error 507 and not stored; as soon as there is space again the
// same process stores them.
//
// On the smallest disks there is no space for the default journal, and the server works without
// it. On the larger one there is, and hardly any for the database.
func TestFullFileSystem(t *testing.T) {
	t.Parallel()
	for name, env := range journals() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := volume.New(t, 16<<20, volume.Ext4()...)
			testFull(t, v, newSite(t, v.Dir, env), 6<<20)
		})
	}
	t.Run("usual journal on a larger disk", func(t *testing.T) {
		t.Parallel()
		v := volume.New(t, 224<<20, volume.Ext4()...)
		testFull(t, v, newSite(t, v.Dir), 128<<20) // pending plants need space, too
	})
}

func testFull(t *testing.T, v *volume.Volume, s *site, reserved int) {
	t.Helper()
	reserve, ballast := filepath.Join(v.Dir, "reserve"), filepath.Join(v.Dir, "ballast")
	must(t, os.WriteFile(reserve, make([]byte, reserved), 0o600))

	refused := s.fill()
	must(t, os.Remove(reserve))
	s.takeAll(refused)

	fillWith(t, ballast)
	refused = s.fill()
	must(t, os.Remove(ballast))
	s.takeAll(refused)

	s.check()
	s.restart()
	s.verify(0)
	t.Logf("%d plants were acknowledged, %d were refused at last", len(s.acknowledged), len(refused))
}

// TestCompactWithoutSpace compacts a database on a disk without space for a copy of it, and on
// one without any space: the database is not changed.
func TestCompactWithoutSpace(t *testing.T) {
	t.Parallel()
	v := volume.New(t, 16<<20, volume.Ext4()...)
	s := newSite(t, v.Dir, "JOURNAL_BYTES=0")
	for n := range 20 {
		s.create(s.bigBody(1, n))
	}
	s.server.Stop()
	before := readAll(t, filepath.Join(v.Dir, databaseFile))
	ballast := filepath.Join(v.Dir, "ballast")
	fillWith(t, ballast)
	for _, free := range []int64{0, 16 << 10, 64 << 10} {
		info, err := os.Stat(ballast)
		must(t, err)
		must(t, os.Truncate(ballast, info.Size()-free))
		wantCommand(t, v.Dir, 1, "no space left on device", "compact")
		if readAll(t, filepath.Join(v.Dir, databaseFile)) != before {
			t.Errorf("with %d bytes left the files have changed", free)
		}
		wantCommand(t, v.Dir, 0, "", "check")
	}
}

// TestStartWithHardlyAnySpace starts a server on disks with and without space for the journal,
// and for a few pages of the database. It starts each time, with all plants, and plants that it
// then acknowledges are stored at the next start.
func TestStartWithHardlyAnySpace(t *testing.T) {
	t.Parallel()
	v := volume.New(t, 16<<20, volume.Ext4()...)
	s := newSite(t, v.Dir, fmt.Sprint("JOURNAL_BYTES=", journal.MinSize))
	for n := range 20 {
		s.create(s.body(1, n))
	}
	s.server.Stop()
	wantCommand(t, v.Dir, 0, "", "compact") // the file has no free page
	stored := len(s.acknowledged)
	ballast, kept := filepath.Join(v.Dir, "ballast"), map[string][]byte{}
	for _, suffix := range []string{"", ".mark"} {
		file, err := os.ReadFile(filepath.Join(v.Dir, databaseFile+suffix))
		must(t, err)
		kept[suffix] = file
	}
	journals, starts := 0, 0
	for free := int64(journal.MinSize - 12<<10); free < journal.MinSize+48<<10; free += 4 << 10 {
		fillWith(t, ballast)
		info, err := os.Stat(ballast)
		must(t, err)
		must(t, os.Truncate(ballast, info.Size()-free))
		s.restart()
		for n := range 5 {
			body := s.bigBody(2, n)
			switch a, err := s.post(body); {
			case err == nil && a.status == http.StatusOK:
				s.acknowledged = append(s.acknowledged, body)
			case err != nil || a.Code != http.StatusInsufficientStorage:
				t.Errorf("with %d bytes left: %+v, %v", free, a, err)
			}
		}
		starts++
		if _, err := os.Stat(filepath.Join(v.Dir, databaseFile+".journal")); err == nil {
			journals++
		}
		s.server.Kill()
		s.restart()
		for _, body := range s.acknowledged {
			if a, err := s.post(body); err != nil || !a.identical() {
				t.Errorf("with %d bytes left: %.60s was acknowledged; now: %+v, %v", free, body, a, err)
			}
		}
		s.server.Kill()
		must(t, os.Remove(ballast))
		must(t, os.RemoveAll(filepath.Join(v.Dir, databaseFile+".journal")))
		for suffix, file := range kept {
			must(t, os.WriteFile(filepath.Join(v.Dir, databaseFile+suffix), file, 0o600))
		}
		s.acknowledged = s.acknowledged[:stored]
	}
	if journals == 0 || journals == starts {
		t.Errorf("%d of %d servers had a journal, want some with and some without", journals, starts)
	}
}

// fill creates plants, by several writers, until each has received a few errors for lack of
// space. It returns the refused plants.
func (s *site) fill() (refused []string) {
	s.t.Helper()
	s.rounds++
	var mu sync.Mutex
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			left := 5
			for n := 0; left > 0; n++ {
				body := s.bigBody(w, n)
				a, err := s.post(body)
				mu.Lock()
				switch {
				case err == nil && a.status == http.StatusOK:
					s.acknowledged = append(s.acknowledged, body)
				case err == nil && a.Code == http.StatusInsufficientStorage && strings.Contains(a.Message, "was not stored"):
					refused = append(refused, body)
					left--
				default:
					s.t.Errorf("round %d: %.60s on a disk that gets full: status %d, %+v, %v", s.rounds, body, a.status, a.Error, err)
					left = 0
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return refused
}

// bigBody is body for a plant of up to ten pages.
func (s *site) bigBody(w, n int) string {
	return strings.Replace(s.body(w, n), `"name":"`, `"name":"`+strings.Repeat("big ", n%10*1000), 1)
}

// takeAll resends the refused plants, now that there is space: none of them may be stored
// already.
func (s *site) takeAll(refused []string) {
	s.t.Helper()
	if len(refused) < writers {
		s.t.Errorf("only %d plants were refused: the disk was not full", len(refused))
	}
	for _, body := range refused {
		if !s.create(body) {
			s.t.Errorf("round %d: %.60s is refused although there is space again", s.rounds, body)
		}
	}
}

// fillWith creates a file that takes all available space.
func fillWith(t testing.TB, path string) {
	t.Helper()
	file, err := os.Create(path)
	must(t, err)
	defer func() { _ = file.Close() }()
	for size := 64 << 10; size >= 512; size /= 2 { // down to the last byte
		if _, err := io.Copy(file, endless(size)); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("a file that should fill the disk: %v", err)
		}
	}
	must(t, file.Sync())
}

// endless reads zeros, n at a time.
type endless int

func (e endless) Read(p []byte) (int, error) {
	n := min(len(p), int(e))
	clear(p[:n])
	return n, nil
}
