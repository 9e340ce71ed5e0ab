package crash

import (
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/volume"
)

// TestKernelCrash shuts the file system down under a server under load, and
// mounts it again: every plant that was acknowledged must be there (C5.26). Every other time the file
// is checked after the crash.
func TestKernelCrash(t *testing.T) {
	t.Parallel()
	for fs, mkfs := range map[string][]string{"ext4": volume.Ext4(), "xfs": {"mkfs.xfs", "-q", "-f"}} {
		t.Run(fs, func(t *testing.T) {
			t.Parallel()
			v := volume.New(t, 320<<20, mkfs...) // the minimum size of xfs is 300 MiB
			s, rounds := newSite(t, v.Dir), plantstore.Torture(10, 100)
			for round := range rounds {
				from := s.Len()
				s.interrupt(func() { v.ShutDown(volume.LogFlush + s.random.Uint32N(volume.NoLogFlush)) })
				s.Server.Kill()
				v.Unmount()
				v.Mount()
				s.Start(plantstore.Options{Dir: s.Server.Dir})
				s.verify(from)
				if round%2 == 0 {
					s.check()
					s.Start(plantstore.Options{Dir: s.Server.Dir})
				}
				if t.Failed() {
					return // the first loss is enough
				}
			}
			s.verify(0)
			s.check()
			t.Logf("%d crashes, %d plants were acknowledged", rounds, s.Len())
		})
	}
}
