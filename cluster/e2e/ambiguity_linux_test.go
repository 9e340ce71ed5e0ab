package e2e

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/cluster/internal/etcd"
	"plantstore/e2e/cluster/internal/postgres"
	"plantstore/e2e/cluster/internal/proxy"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
)

// TestEtcdAmbiguity and TestPostgresAmbiguity cut connections during creates. No client may get
// an error for its own plant, and each must get a definite outcome.
func TestEtcdAmbiguity(t *testing.T) {
	t.Parallel()
	cluster := etcd.Start(t, etcd.Options{})
	p := proxy.Start(t, cluster.Hosts())
	// The engine stops using a member that no longer responds on an established connection.
	testAmbiguity(t, p, "etcd://"+p.Address+","+cluster.Hosts()+"/garden")
}

func TestPostgresAmbiguity(t *testing.T) {
	t.Parallel()
	server := postgres.Start(t, "")
	p := proxy.Start(t, server.Host())
	testAmbiguity(t, p, strings.Replace(server.URL("plants", "postgres"), server.Host(), p.Address, 1))
}

func testAmbiguity(t *testing.T, p *proxy.Proxy, url string) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 0))
	s := newSite(t, url, 2)
	stop := s.load()
	for round := range int64(plantstore.Torture(15, 150)) {
		s.await(1 + random.Int64N(30))
		fault := []proxy.Fault{proxy.Cut, proxy.Swallow}[random.IntN(2)]
		if round%10 == 5 { // it takes long until the next request succeeds
			fault = proxy.Silence
		}
		p.Arm(fault)
		process.Eventually(t, "a fault", func(context.Context) error {
			if p.Struck() <= round {
				return errors.New("no request has met it")
			}
			return nil
		})
	}
	stop()
	s.verify()
	for _, o := range s.history {
		if o.outcome == unknown || o.outcome == refused {
			t.Errorf("id %d: %s, after %v", o.id, o.response, (o.stop - o.start).Round(time.Millisecond))
		}
	}
}

// TestPostgresRestarted restarts the server again and again while clients create
// plants through two replicas.
func TestPostgresRestarted(t *testing.T) {
	t.Parallel()
	server := postgres.Start(t, "")
	s := newSite(t, server.URL("plants", "postgres"), 2)
	stop := s.load()
	for round := range plantstore.Torture(10, 50) {
		s.await(200)
		if round%2 == 0 {
			server.Stop(postgres.Fast)
		} else {
			server.Stop(postgres.Immediate)
		}
		server.Restart()
	}
	s.await(200)
	stop()
	s.verify()
}

// TestReplicaKilled kills one of three replicas again and again during creates, on each engine.
func TestReplicaKilled(t *testing.T) {
	t.Parallel()
	for name, url := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, url, 3)
			stop := s.load()
			for round := range plantstore.Torture(10, 50) {
				s.await(50)
				s.replace(round % len(s.replicas))
			}
			s.await(50)
			stop()
			s.verify()
		})
	}
}
