// Package etcd runs real clusters of etcd for the end-to-end tests.
package etcd

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// Ports of each member, which has its own address.
const (
	clientPort = 2379
	peerPort   = 2380
)

// build builds the server, once for all tests of a process.
var build = sync.OnceValues(func() (string, error) { //nolint:gochecknoglobals // it is built once
	project, err := tools.ProjectDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(project, "bin", "e2e", "etcd")
	cmd := exec.CommandContext(context.Background(), "go", "build", "-ldflags", "-s -w", "-o", path, ".")
	cmd.Dir = filepath.Join(project, "cluster", "e2e", "etcd")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build etcd: %w\n%s", err, out)
	}
	return path, nil
})

// Options are the options of a cluster.
type Options struct {
	Members   int                       // 0: one
	Dir       string                    // of the data; empty: a fresh directory
	Addresses []string                  // of the members; nil: some of the loopback network
	Peers     []string                  // the addresses among the members; nil: the same
	Wrap      func(member int) []string // the first words of a member's command
	Args      []string                  // further arguments of each member
	Scheme    string                    // of the clients' URLs; empty: http
	TLS       *tls.Config               // of the tests' own clients
}

// A Cluster is a running etcd.
type Cluster struct {
	Members []*Member

	t       testing.TB
	options Options
	program string
	token   string
}

// A Member is one server of a cluster.
type Member struct {
	*process.Process
	Address string // address for clients, without a port
	Name    string
	Number  int
	peer    string // address for the other members
	dir     string
}

// Start starts a cluster and returns when it has a leader.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	program := must.Get(build())(t)
	o.Members, o.Scheme = max(o.Members, 1), cmp.Or(o.Scheme, "http")
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	c := &Cluster{t: t, options: o, program: program, token: t.Name()}
	for n := range o.Members {
		m := &Member{Name: fmt.Sprint("m", n), dir: filepath.Join(o.Dir, fmt.Sprint("m", n)), Number: n}
		if o.Addresses != nil {
			m.Address = o.Addresses[n]
		} else {
			m.Address = process.Address()
		}
		m.peer = m.Address
		if o.Peers != nil {
			m.peer = o.Peers[n]
		}
		c.Members = append(c.Members, m)
	}
	for _, m := range c.Members {
		c.Restart(m)
	}
	c.AwaitHealthy()
	return c
}

// Restart starts a stopped member.
func (c *Cluster) Restart(m *Member) {
	c.t.Helper()
	must.Do(c.t, os.MkdirAll(m.dir, 0o700))
	var peers []string
	for _, m := range c.Members {
		peers = append(peers, m.Name+"=http://"+process.Port(m.peer, peerPort))
	}
	client, peer := c.url(m), "http://"+process.Port(m.peer, peerPort)
	var words []string
	if c.options.Wrap != nil {
		words = c.options.Wrap(m.Number)
	}
	words = append(words, c.program,
		"--name", m.Name, "--data-dir", filepath.Join(m.dir, "data"), "--log-level", "warn",
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--initial-cluster", strings.Join(peers, ","), "--initial-cluster-token", c.token)
	words = append(words, c.options.Args...)
	m.Process = process.Start(c.t, m.dir, exec.CommandContext(context.Background(), words[0], words[1:]...))
}

func (c *Cluster) url(m *Member) string {
	return c.options.Scheme + "://" + process.Port(m.Address, clientPort)
}

// Hosts returns the members as in a storage URL.
func (c *Cluster) Hosts() string {
	var hosts []string
	for _, m := range c.Members {
		hosts = append(hosts, process.Port(m.Address, clientPort))
	}
	return strings.Join(hosts, ",")
}

// Client returns a client of the given members, by default of all.
func (c *Cluster) Client(members ...*Member) *clientv3.Client {
	c.t.Helper()
	if members == nil {
		members = c.Members
	}
	var urls []string
	for _, m := range members {
		urls = append(urls, c.url(m))
	}
	client := must.Get(clientv3.New(clientv3.Config{Endpoints: urls, TLS: c.options.TLS, Logger: zap.NewNop()}))(c.t)
	c.t.Cleanup(func() { _ = client.Close() })
	return client
}

// AwaitHealthy waits until every member serves linearizable reads.
func (c *Cluster) AwaitHealthy() {
	c.t.Helper()
	for _, m := range c.Members {
		client := c.Client(m)
		process.Eventually(c.t, "etcd member "+m.Name, func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			_, err := client.Get(ctx, "health")
			return err
		})
		_ = client.Close()
	}
}

// Leader returns the leader that a majority of the members reports.
func (c *Cluster) Leader() *Member {
	c.t.Helper()
	var leader *Member
	process.Eventually(c.t, "a leader", func(ctx context.Context) error {
		votes := map[uint64]int{}
		ids := map[uint64]*Member{}
		for _, m := range c.Members {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			client := c.Client(m)
			if status, err := client.Status(ctx, c.url(m)); err == nil {
				votes[status.Leader]++
				ids[status.Header.MemberId] = m
			}
			_ = client.Close()
		}
		for id, n := range votes {
			if n > len(c.Members)/2 && ids[id] != nil {
				leader = ids[id]
				return nil
			}
		}
		return errors.New("no majority follows one")
	})
	return leader
}
