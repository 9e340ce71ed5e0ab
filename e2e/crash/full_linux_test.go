package crash

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"plantstore/e2e/internal/must"
	"plantstore/e2e/internal/volume"
)

// TestFullFileSystem fills a small file system, first by plants and then by another file.
// Plants without space are error 507 and not stored; as soon as there is space again the
// same process stores them.
func TestFullFileSystem(t *testing.T) {
	t.Parallel()
	v := volume.New(t, 16<<20, volume.Ext4()...)
	s := newSite(t, v.Dir)
	reserve, ballast := filepath.Join(v.Dir, "reserve"), filepath.Join(v.Dir, "ballast")
	must.Do(t, os.WriteFile(reserve, make([]byte, 6<<20), 0o600))

	refused := s.fill()
	must.Do(t, os.Remove(reserve))
	s.takeAll(refused)

	fillWith(t, ballast)
	refused = s.fill()
	must.Do(t, os.Remove(ballast))
	s.takeAll(refused)

	s.check()
	s.restart()
	s.verify(0)
	t.Logf("%d plants were acknowledged, %d were refused at last", len(s.acknowledged), len(refused))
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
				a, err := s.server.TryPost(s.token, body)
				mu.Lock()
				switch {
				case err == nil && a.Status == http.StatusOK:
					s.acknowledged = append(s.acknowledged, body)
				case err == nil && a.Code == http.StatusInsufficientStorage && strings.Contains(a.Message, "was not stored"):
					refused = append(refused, body)
					left--
				default:
					s.t.Errorf("round %d: %.60s on a disk that gets full: status %d, %+v, %v", s.rounds, body, a.Status, a.Error, err)
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
	file := must.Get(os.Create(path))(t)
	defer func() { _ = file.Close() }()
	for size := 64 << 10; size >= 512; size /= 2 { // down to the last byte
		if _, err := io.Copy(file, endless(size)); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("a file that should fill the disk: %v", err)
		}
	}
	must.Do(t, file.Sync())
}

// endless reads zeros, n at a time.
type endless int

func (e endless) Read(p []byte) (int, error) {
	n := min(len(p), int(e))
	clear(p[:n])
	return n, nil
}
