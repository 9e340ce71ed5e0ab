package e2e

import (
	"testing"

	"plantstore/e2e/cluster/internal/etcd"
	"plantstore/e2e/cluster/internal/postgres"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/volume"
)

// TestPowerCut cuts the power of all members, or of the server, at once, under load.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	t.Run("etcd", func(t *testing.T) {
		t.Parallel()
		v := volume.New(t, 2<<30, volume.Ext4()...) // each member preallocates 64 MiB
		cluster := etcd.Start(t, etcd.Options{Members: 3, Dir: v.Dir})
		testPowerCut(t, v, "etcd://"+cluster.Hosts(), func() {
			for _, m := range cluster.Members {
				m.Kill()
			}
		}, func() {
			for _, m := range cluster.Members {
				cluster.Restart(m)
			}
			cluster.AwaitHealthy()
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		v := volume.New(t, 1<<30, volume.Ext4()...)
		server := postgres.Start(t, v.Dir)
		process.Run(t, "sync") // the files of initdb
		// Its writes no longer reach the device, and its children exit with it.
		kill := func() { server.Stop(postgres.Immediate) }
		testPowerCut(t, v, server.URL("plants", "postgres"), kill, server.Restart)
	})
}

func testPowerCut(t *testing.T, v *volume.Volume, url string, kill, restart func()) {
	t.Helper()
	s := newSite(t, url, 3)
	stop := s.load()
	for range plantstore.Torture(1, 5) {
		s.await(500)
		v.ShutDown(volume.NoLogFlush)
		kill()
		v.Unmount()
		v.Mount()
		restart()
		s.await(200)
	}
	stop()
	s.verify()
}
