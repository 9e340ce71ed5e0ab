package engines

import (
	"testing"
	"time"

	"plantstore/e2e/internal/etcd"
	"plantstore/e2e/internal/plantstore"
)

// longestGap is the maximum time without a successful create when a leader fails.
const longestGap = 3 * time.Second

// checkGaps checks the longest time without a successful create. The time of an election depends
// on etcd and on the load of the machine, so it only counts in a long run.
func (s *site) checkGaps(m *meter) {
	s.t.Helper()
	total, served := s.gaps(m)
	s.t.Logf("the longest time without a create: %v, %v of them while the cluster took writes",
		total.Round(time.Millisecond), served.Round(time.Millisecond))
	if served > longestGap {
		s.t.Errorf("for %v no create succeeded while the cluster took writes, want at most %v", served, longestGap)
	}
	if plantstore.Torture(0, 1) == 1 && total > longestGap {
		s.t.Errorf("for %v no create succeeded, want at most %v", total, longestGap)
	}
}

// TestEtcdLeaderKilled kills the leader again and again while clients create
// plants through three replicas.
//
//nolint:paralleltest // it measures
func TestEtcdLeaderKilled(t *testing.T) {
	cluster := etcd.Start(t, etcd.Options{Members: 3})
	s := newSite(t, "etcd://"+cluster.Hosts()+"/garden", 3)
	m := s.startMeter(cluster)
	stop := s.load()
	for range plantstore.Torture(5, 20) {
		s.await(200)
		leader := cluster.Leader()
		leader.Kill()
		s.await(200)
		cluster.Restart(leader)
		cluster.AwaitHealthy()
	}
	m.stop()
	stop()
	s.verify()
	s.checkGaps(m)
}
