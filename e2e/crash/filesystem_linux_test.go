package crash

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"plantstore/e2e/internal/load"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/volume"
	"plantstore/internal/must"
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

	s.fill()
	must.Do(t, os.Remove(reserve))
	s.takeAll()

	fillWith(t, ballast)
	s.fill()
	must.Do(t, os.Remove(ballast))
	s.takeAll()

	s.check()
	s.Start(plantstore.Options{Dir: s.Server.Dir})
	s.verify(0)
	t.Logf("%d plants were acknowledged", s.Len())
}

// TestImportIntoFullFileSystem checks that an import without space for it reports what was stored and
// how to go on, and that the next one does.
func TestImportIntoFullFileSystem(t *testing.T) {
	t.Parallel()
	v := volume.New(t, 16<<20, volume.Ext4()...)
	ballast, file := filepath.Join(v.Dir, "ballast"), filepath.Join(t.TempDir(), "plants.jsonl")
	must.Do(t, os.WriteFile(ballast, make([]byte, 8<<20), 0o600))
	const plants = 20
	must.Do(t, os.WriteFile(file, manyPlants(plants, strings.Repeat("x", 512<<10)), 0o600))
	code, stderr := runIn(t, v.Dir, "plants", "import", file)
	stored := strings.TrimSpace(plantstore.Run(t, v.Dir, "plants", "count"))
	want := "plantstore: import " + file + ": no space is left for the database; " + stored +
		" plants were stored: free some space, and run the import again to continue"
	if code != 1 || lastLine(stderr) != want || stored == "0" {
		t.Errorf("exit code %d, want 1 and\n%s\n%s", code, want, stderr)
	}
	must.Do(t, os.Remove(ballast))
	plantstore.Run(t, v.Dir, "plants", "import", file)
	if got := plantstore.Run(t, v.Dir, "plants", "count"); got != fmt.Sprintln(plants) {
		t.Errorf("%s plants are stored, want %d", got, plants)
	}
}

// fill creates plants of up to ten pages, by several writers, until each has received a few errors
// for lack of space.
func (s *site) fill() {
	s.t.Helper()
	s.rounds++
	load.Each(writers, writers, func(w int) {
		for n, left := 0, 5; left > 0; n++ {
			id, plant := s.plant(w, n)
			plant.Name = strings.Repeat("big ", n%10*1000) + plant.Name
			switch r := s.Create(id, plant); {
			case r.Code == http.StatusInsufficientStorage && r.Outcome() == load.Refused:
				left--
			case r.Outcome() != load.Created:
				s.t.Errorf("round %d: %v on a disk that gets full", s.rounds, r)
				return
			}
		}
	})
}

// takeAll resends the refused plants, now that there is space: none of them may be stored
// already.
func (s *site) takeAll() {
	s.t.Helper()
	refused := s.Of(load.Absent)
	if len(refused) < writers {
		s.t.Errorf("only %d plants were refused: the disk was not full", len(refused))
	}
	for id, e := range refused {
		if r := s.Create(id, e.Plant); r.Outcome() != load.Created {
			s.t.Errorf("round %d: %v although there is space again", s.rounds, r)
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

// TestReadOnlyFileSystem lets the kernel make the file system read-only under a server under
// load, as it does when it finds corruption: the server exits, and all acknowledged plants are
// stored when the file system is writable again. The test cannot remount it read-only instead:
// the kernel refuses this while a file is open for writing.
func TestReadOnlyFileSystem(t *testing.T) {
	t.Parallel()
	v := volume.New(t, 64<<20, volume.Ext4()...)
	s := newSite(t, v.Dir)
	for range plantstore.Torture(3, 20) {
		from := s.Len()
		s.interrupt(v.MakeReadOnly)
		for n := range writers {
			if s.create(writers+1, n) {
				t.Error("a plant was acknowledged on a read-only file system")
			}
		}
		s.wantEnd(1, "read-only file system", "input/output error") // by a write, or by a sync of one before
		wantCommand(t, v.Dir, 1, databaseFile, "serve")
		v.Unmount()
		v.Mount()
		s.Start(plantstore.Options{Dir: s.Server.Dir})
		s.verify(from)
		if t.Failed() {
			return // the first loss is enough
		}
	}
	s.verify(0)
	s.check()
}
