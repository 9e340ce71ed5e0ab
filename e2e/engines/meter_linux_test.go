package engines

import (
	"context"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"plantstore/e2e/internal/etcd"
)

const (
	// meterPatience is that of a meter's write, and meterPause the time between
	// two, which leaves the cluster to those whom it judges.
	meterPatience = 100 * time.Millisecond
	meterPause    = 10 * time.Millisecond
	// leastOutage is the least time without a write that is an outage of the
	// cluster. An election takes longer.
	leastOutage = 200 * time.Millisecond
)

// A meter writes to a cluster all the while, to each member with a bare client of
// its own, and so tells the time that the cluster itself was out from the time
// that its users took to notice that it was back.
type meter struct {
	// stop ends it. What it has seen may be asked for after that.
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

// write writes once, and waits for the next time.
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

// An outage is a time in which a cluster took no write.
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

// within returns how much of the outage is in a time.
func (o outage) within(from, to time.Duration) time.Duration {
	return max(0, min(o.to, to)-max(o.from, from))
}
