package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"plantstore/e2e/internal/wrk"
)

// sample measures one contender once, in a process and on its own database.
func (h *harness) sample(ctx context.Context, c contender) (s sample, err error) {
	dir, err := os.MkdirTemp(h.diskFor(c.load), "plantstore-bench-")
	if err != nil {
		return sample{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	used := &store{dir: dir}
	if c.store != nil {
		if used, err = c.store.copyTo(dir); err != nil {
			return sample{}, err
		}
	}
	p, err := h.start(ctx, c, dir)
	if err != nil {
		return sample{}, err
	}
	defer func() { p.stop() }()
	if h.settings.warmUp > 0 {
		if _, err := h.shoot(ctx, c, used, p, h.settings.warmUp); err != nil {
			return sample{}, err
		}
	}
	s, err = h.shoot(ctx, c, used, p, h.durationOf(c.load))
	if err != nil || !c.killed {
		return s, err
	}
	for n := range kills {
		d := h.settings.duration + time.Duration(n)*h.settings.duration/kills
		if err := h.killUnderLoad(ctx, c, used, p, d); err != nil {
			return sample{}, err
		}
		again, err := h.start(ctx, c, dir)
		if err != nil {
			return sample{}, err
		}
		p, s.restart = again, max(s.restart, again.started)
	}
	return s, nil
}

// start starts the program of a contender.
func (h *harness) start(ctx context.Context, c contender, dir string) (*process, error) {
	var args []string
	if c.program == plantstoreName {
		args = []string{"serve"}
	}
	return start(ctx, h.binaries[c.program], dir, h.token, strings.Fields(c.options), args...)
}

// durationOf returns the duration of a load.
func (h *harness) durationOf(l load) time.Duration {
	if l.long {
		return h.settings.long
	}
	return h.settings.duration
}

// diskFor returns the directory for the new database of a load.
func (h *harness) diskFor(l load) string {
	if l.memory {
		return memoryDir
	}
	return h.dir
}

// shot returns the load of a contender, from the next id of the store on.
func (h *harness) shot(c contender, used *store, p *process, d time.Duration) wrk.Shot {
	s := wrk.Shot{Addr: p.addr, Clients: c.load.clients, Order: c.load.order, First: used.next, Tokens: h.oneToken, Duration: d, Paced: c.load.long}
	if c.load.many {
		s.Tokens = h.manyTokens
	}
	return s
}

// shoot loads the process for that time.
func (h *harness) shoot(ctx context.Context, c contender, used *store, p *process, d time.Duration) (sample, error) {
	before, err := usageOf(p)
	if err != nil {
		return sample{}, err
	}
	memory := watchMemory(func() (float64, error) { return memoryOf(p.cmd.Process.Pid) })
	r, err := wrk.Fire(ctx, h.shot(c, used, p, d))
	used.next += r.Requests + r.Broken + 2*int64(c.load.clients) // wrk does not count requests without a response
	most, memoryErr := memory()
	after, usageErr := usageOf(p)
	if err := errors.Join(err, memoryErr, usageErr); err != nil {
		return sample{}, err
	}
	process := after.process - before.process
	return sample{
		throughput: r.Throughput(),
		p50:        r.P50,
		p99:        r.P99,
		cpu:        float64(process.Microseconds()) / float64(max(1, r.Requests)),
		others:     max(0, float64(after.machine-before.machine-process-r.CPU)/float64(after.total-before.total)),
		start:      p.started,
		bad:        r.Refused + r.Broken,
		memory:     most,
		lowest:     lowestOf(r.Seconds),
		pause:      time.Duration(r.Pause) * time.Microsecond,
	}, nil
}

// lowestOf returns the ratio of the lowest count to the median count, or 0 if there are none.
func lowestOf(counts []int64) float64 {
	if len(counts) == 0 {
		return 0
	}
	values := make([]float64, len(counts))
	for i, n := range counts {
		values[i] = float64(n)
	}
	return slices.Min(values) / max(1, medianOf(values))
}

const (
	// kills is the number of times that a server is killed: each time, the journal is at another
	// point between two checkpoints.
	kills = 3
	// idsOfKilled is more than the creates of any load that ends with a kill.
	idsOfKilled = 10_000_000
)

// killUnderLoad kills the process after it was under load for that time.
func (h *harness) killUnderLoad(ctx context.Context, c contender, used *store, p *process, d time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := wrk.Fire(ctx, h.shot(c, used, p, d+patience))
		ended <- err
	}()
	select {
	case err := <-ended:
		return fmt.Errorf("the load ended before the kill: %w", err)
	case <-time.After(d):
	}
	p.kill()
	cancel()
	if err := <-ended; err == nil { // it should have been canceled
		return errors.New("the load ended successfully although the server was killed")
	}
	used.next += idsOfKilled
	return nil
}
