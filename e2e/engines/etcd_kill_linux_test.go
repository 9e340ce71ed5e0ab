package engines

import (
	"testing"
	"time"

	"plantstore/e2e/internal/etcd"
	"plantstore/e2e/internal/plantstore"
)

// longestGap is how long, at most, no create succeeds when a leader fails.
const longestGap = 3 * time.Second

// TestEtcdLeaderKilled kills the leader again and again while clients create
// plants through three replicas.
//
//nolint:paralleltest // it measures
func TestEtcdLeaderKilled(t *testing.T) {
	cluster := etcd.Start(t, etcd.Options{Members: 3})
	s := newSite(t, "etcd://"+cluster.Hosts()+"/garden", 3)
	stop := s.load()
	for range plantstore.Torture(5, 20) {
		s.await(200)
		leader := cluster.Leader()
		leader.Kill()
		s.await(200)
		cluster.Restart(leader)
		cluster.AwaitHealthy()
	}
	stop()
	s.verify()
	if gap := s.gap(); gap > longestGap {
		t.Errorf("for %v no create succeeded, want at most %v", gap, longestGap)
	}
}
