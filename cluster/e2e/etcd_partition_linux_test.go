package e2e

import (
	"context"
	"errors"
	"testing"

	"plantstore/e2e/cluster/internal/etcd"
	"plantstore/e2e/cluster/internal/network"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
)

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
func TestEtcdPartition(t *testing.T) {
	t.Parallel()
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
	for round := range plantstore.Torture(2, 20) {
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
}

// withoutQuorum cuts two of three members off until clients get errors, and then
// reconnects them.
func (s *site) withoutQuorum(n *network.Network, cluster *etcd.Cluster) {
	s.t.Helper()
	for m := range 2 {
		n.Cut(m, network.ToPeers)
	}
	process.Eventually(s.t, "an error without a quorum", func(context.Context) error {
		if last := s.last().outcome; last != unknown && last != refused {
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
