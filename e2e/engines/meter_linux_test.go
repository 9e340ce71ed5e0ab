package engines

import (
	"context"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"plantstore/e2e/internal/etcd"
)

const (
	// meterPatience is the timeout of a meter's write, and meterPause the time between two
	// writes, which keeps the load low.
	meterPatience = 100 * time.Millisecond
	meterPause    = 10 * time.Millisecond
	// leastOutage is the minimum time without a write that counts as an outage of the cluster.
	// An election takes longer.
	leastOutage = 200 * time.Millisecond
)

// A meter continuously writes to each member of a cluster with a bare client. It
// distinguishes outages of the cluster from the time that the engine took to notice that
// the cluster was back.
type meter struct {
	// stop ends the meter. Its results are valid after that.
	stop func()

	epoch time.Time
	mu    sync.Mutex
	wrote []time.Duration // when a write succeeded, since the epoch
}

// startMeter starts a meter, with the epoch of the site.
func (s *site) startMeter(cluster *etcd.Cluster) *meter {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	m := &meter{epoch: s.epoch}
	var members sync.WaitGroup
	m.stop = func() {
		cancel()
		members.Wait()
	}
	s.t.Cleanup(m.stop)
	for _, member := range cluster.Members {
		client := cluster.Client(member)
		members.Go(func() {
			for ctx.Err() == nil {
				m.write(ctx, client, "meter/"+member.Name)
			}
		})
	}
	return m
}

// write writes once, and then pauses.
func (m *meter) write(ctx context.Context, client *clientv3.Client, key string) {
	attempt, cancel := context.WithTimeout(clientv3.WithRequireLeader(ctx), meterPatience)
	defer cancel()
	if _, err := client.Put(attempt, key, ""); err == nil {
		m.mu.Lock()
		m.wrote = append(m.wrote, time.Since(m.epoch))
		m.mu.Unlock()
	}
	select {
	case <-time.After(meterPause):
	case <-ctx.Done():
	}
}

// An outage is a time in which a cluster accepted no write.
type outage struct{ from, to time.Duration }

// outages returns the outages of all meters.
func (m *meter) outages() (all []outage) {
	if m == nil {
		return nil
	}
	for i := 1; i < len(m.wrote); i++ {
		if o := (outage{m.wrote[i-1], m.wrote[i]}); o.to-o.from >= leastOutage {
			all = append(all, o)
		}
	}
	return all
}

// within returns the part of the outage that is in a period.
func (o outage) within(from, to time.Duration) time.Duration {
	return max(0, min(o.to, to)-max(o.from, from))
}
