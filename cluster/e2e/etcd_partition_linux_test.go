package e2e

import (
	"context"
	"errors"
	"testing"
	"time"

	"plantstore/e2e/cluster/internal/etcd"
	"plantstore/e2e/cluster/internal/network"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
)

// maxResponseTime is the maximum time of any response: a create waits for at most one batch, and
// each batch fails after 5 seconds.
const maxResponseTime = 11 * time.Second

// TestEtcdLeaderKilled kills the leader again and again while clients create
// plants through three replicas.
func TestEtcdLeaderKilled(t *testing.T) {
	t.Parallel()
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
}

// TestEtcdPartition cuts the leader off, from the other members alone or from the
// replicas too, again and again, and then so many members that none is left
// with a quorum.
func TestEtcdPartition(t *testing.T) { //nolint:paralleltest // it bounds the time of responses
	const members = 3
	n := network.New(t, members)
	o := etcd.Options{Members: members, Wrap: func(m int) []string { return []string{"ip", "netns", "exec", network.Space(m)} }}
	for m := range members {
		o.Addresses = append(o.Addresses, network.Address(m, network.ToClients))
		o.Peers = append(o.Peers, network.Address(m, network.ToPeers))
	}
	cluster := etcd.Start(t, o)
	s := newSite(t, "etcd://"+cluster.Hosts()+"/garden", 3)
	stop := s.load()
	for round := range plantstore.Torture(4, 20) {
		s.await(200)
		links := []network.Link{network.ToPeers, network.ToClients}[:1+round%2]
		leader := cluster.Leader().Number
		n.Cut(leader, links...)
		s.await(200)
		n.Heal(leader, links...)
		cluster.AwaitHealthy()
	}
	s.withoutQuorum(n, cluster)
	stop()
	s.verify()
	s.checkResponseTimes()
}

// withoutQuorum cuts two of three members off until clients get errors, and then
// reconnects them.
func (s *site) withoutQuorum(n *network.Network, cluster *etcd.Cluster) {
	s.t.Helper()
	for m := range 2 {
		n.Cut(m, network.ToPeers)
	}
	process.Eventually(s.t, "an error without a quorum", func(context.Context) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if last := s.history[len(s.history)-1].outcome; last != unknown && last != refused {
			return errors.New("creates succeed")
		}
		return nil
	})
	for m := range 2 {
		n.Heal(m, network.ToPeers)
	}
	cluster.AwaitHealthy()
	s.await(200)
}

// checkResponseTimes checks that no response came too late.
func (s *site) checkResponseTimes() {
	s.t.Helper()
	var longest time.Duration
	for _, o := range s.history {
		longest = max(longest, o.stop-o.start)
	}
	if s.t.Logf("longest response: %v", longest.Round(time.Millisecond)); longest > maxResponseTime {
		s.t.Errorf("a response took %v, want at most %v", longest, maxResponseTime)
	}
}
