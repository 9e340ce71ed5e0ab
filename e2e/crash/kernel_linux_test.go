package crash

import (
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/volume"
)

// TestKernelCrash shuts the file system down under a server under load, and
// mounts it again: every plant that was acknowledged must be there (C5.26).
func TestKernelCrash(t *testing.T) {
	t.Parallel()
	for name, mkfs := range map[string][]string{"ext4": volume.Ext4(), "xfs": {"mkfs.xfs", "-q", "-f"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := volume.New(t, 320<<20, mkfs...) // xfs takes none below 300 MiB
			s := newSite(t, v.Dir)
			rounds := plantstore.Torture(10, 100)
			for range rounds {
				from := len(s.acknowledged)
				s.interrupt(func() { v.ShutDown(volume.LogFlush + s.random.Uint32N(volume.NoLogFlush)) })
				s.server.Kill()
				v.Unmount()
				v.Mount()
				s.restart()
				s.verify(from)
				s.check()
				if t.Failed() {
					return // the first loss tells most
				}
				s.restart()
			}
			s.verify(0)
			t.Logf("%d crashes, %d plants were acknowledged", rounds, len(s.acknowledged))
		})
	}
}
