package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The orders of ids. All ids have 16 digits: see create.lua.
const (
	ascending = "ascending"
	scattered = "scattered"
)

// A measurement is measured once in each round.
type measurement struct {
	Name    string
	run     func(h *harness, ctx context.Context, m measurement, dir string) (sample, error)
	program string

	// Of a measurement under load:
	stored   store // at the start
	order    string
	Clients  int
	duration time.Duration
	read     string // a command of plantstore that runs during the load
}

// A sample is the result of a measurement.
type sample map[metric]float64

// A metric is a figure in a sample. Latencies and times are in milliseconds.
type metric string

const (
	requests metric = "requests"
	creates  metric = "creates" // in a second
	p50      metric = "p50"
	p99      metric = "p99"
	longest  metric = "longest" // latency
	lowest   metric = "lowest"  // creates in the lowest second, as a share of the median second
	bad      metric = "bad"     // creates without status 200
	memory   metric = "memory"  // resident memory in MB
	start    metric = "start"   // from start to first response
	others   metric = "others"  // share of the machine that other processes used
)

// load measures creates over a number of connections, after a second to warm up.
func (h *harness) load(ctx context.Context, m measurement, dir string) (sample, error) {
	p, err := h.start(ctx, m, dir)
	if err != nil {
		return nil, err
	}
	defer p.end(syscall.SIGTERM)
	warm, err := h.fire(ctx, m, p.addr, m.stored.plants, time.Second)
	if err != nil {
		return nil, err
	}
	read := make(chan error, 1)
	time.AfterFunc(m.duration/10, func() { read <- h.read(ctx, m, dir) })
	next := m.stored.plants + int64(warm[requests]+warm[bad]) + 2*int64(m.Clients) // wrk does not count requests in flight
	s, err := h.fire(ctx, m, p.addr, next, m.duration)
	return s, errors.Join(err, <-read)
}

// read runs the command that reads. It must end before the load does.
func (h *harness) read(ctx context.Context, m measurement, dir string) error {
	if m.read == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, m.duration*8/10)
	defer cancel()
	return output(h.command(ctx, dir, own, strings.Fields(m.read)...))
}

// output runs a command, and returns its output in the error if it fails.
func output(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}

// fire sends creates to a server for whole seconds, from number first of the order on. One thread
// of wrk is enough for a server on two processors, and keeps ascending ids in their order.
func (h *harness) fire(ctx context.Context, m measurement, addr string, first int64, d time.Duration) (sample, error) {
	wrk := exec.CommandContext(ctx, "wrk", "--threads", "1", "--connections", strconv.Itoa(m.Clients),
		"--duration", strconv.Itoa(int(d.Seconds())), "--timeout", "10s", "--script", h.script, "http://"+addr+"/plants",
		"--", h.token, m.order, strconv.FormatInt(first, 10))
	out, err := wrk.CombinedOutput()
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	var s sample // in the last line
	if err := errors.Join(err, json.Unmarshal(lines[len(lines)-1], &s)); err != nil {
		return nil, fmt.Errorf("wrk: %w\n%s", err, out)
	}
	return s, nil
}

// restart measures the start after kill -9 under load.
func (h *harness) restart(ctx context.Context, m measurement, dir string) (sample, error) {
	killed, err := h.start(ctx, m, dir)
	if err != nil {
		return nil, err
	}
	defer killed.end(os.Kill)
	time.AfterFunc(m.duration/2, func() { killed.end(os.Kill) })
	if _, err := h.fire(ctx, m, killed.addr, m.stored.plants, m.duration); err != nil {
		return nil, err
	}
	p, err := h.start(ctx, m, dir)
	if err != nil {
		return nil, err
	}
	p.end(syscall.SIGTERM)
	return sample{start: float64(p.started.Microseconds()) / 1e3}, nil
}

// idle measures the resident memory of a server after one create.
func (h *harness) idle(ctx context.Context, m measurement, dir string) (sample, error) {
	p, err := h.start(ctx, m, dir)
	if err != nil {
		return nil, err
	}
	defer p.end(syscall.SIGTERM)
	time.Sleep(time.Second)
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
	if err != nil {
		return nil, err
	}
	var total, resident int // in pages
	_, err = fmt.Sscan(string(statm), &total, &resident)
	return sample{memory: float64(resident*os.Getpagesize()) / 1e6}, err
}

// importMillion measures an import of a million plants into an empty store.
func (h *harness) importMillion(ctx context.Context, m measurement, dir string) (sample, error) {
	const plants = 1_000_000
	begin := time.Now()
	var err error
	if m.program == own {
		err = h.build(ctx, store{ascending, plants}, dir)
	} else {
		err = output(h.command(ctx, dir, m.program))
	}
	return sample{creates: plants / time.Since(begin).Seconds()}, err
}
