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
	run     func(h *harness, ctx context.Context, m measurement, dir string) sample
	program string

	// Of a measurement under load:
	stored   store // at the start
	order    string
	Clients  int
	duration time.Duration
	read     string // a command of plantstore that runs during the load
}

// A sample is the result of a measurement, by metric: the figures that create.lua prints; memory,
// resident in MB; start, from the start to the first response in milliseconds; and others, the share of
// the machine that other processes used.
type sample map[string]float64

// load measures creates over a number of connections, after a second to warm up.
func (h *harness) load(ctx context.Context, m measurement, dir string) sample {
	p := h.start(ctx, m, dir)
	defer p.end(syscall.SIGTERM)
	warm := h.fire(ctx, m, p.addr, m.stored.plants, time.Second)
	read := make(chan error, 1)
	time.AfterFunc(m.duration/10, func() { read <- h.read(ctx, m, dir) })
	next := m.stored.plants + int64(warm["requests"]+warm["bad"]) + 2*int64(m.Clients) // wrk does not count requests in flight
	s := h.fire(ctx, m, p.addr, next, m.duration)
	check(<-read)
	return s
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

// fire sends creates to a server for whole seconds, from number first of the order on. One thread
// of wrk is enough for a server on two processors, and keeps ascending ids in their order.
func (h *harness) fire(ctx context.Context, m measurement, addr string, first int64, d time.Duration) (s sample) {
	wrk := exec.CommandContext(ctx, "wrk", "--threads", "1", "--connections", strconv.Itoa(m.Clients),
		"--duration", strconv.Itoa(int(d.Seconds())), "--timeout", "10s", "--script", h.script, "http://"+addr+"/plants",
		"--", h.token, m.order, strconv.FormatInt(first, 10))
	out, err := wrk.CombinedOutput()
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n")) // the sample is in the last one
	if err := errors.Join(err, json.Unmarshal(lines[len(lines)-1], &s)); err != nil {
		panic(fmt.Errorf("%s: wrk: %w\n%s", m.Name, err, out))
	}
	return s
}

// restart measures the start after kill -9 under load.
func (h *harness) restart(ctx context.Context, m measurement, dir string) sample {
	killed := h.start(ctx, m, dir)
	defer killed.end(os.Kill)
	time.AfterFunc(m.duration/2, func() { killed.end(os.Kill) })
	h.fire(ctx, m, killed.addr, m.stored.plants, m.duration)
	p := h.start(ctx, m, dir)
	p.end(syscall.SIGTERM)
	return sample{"start": float64(p.started.Microseconds()) / 1e3}
}

// idle measures the resident memory of a server after one create.
func (h *harness) idle(ctx context.Context, m measurement, dir string) sample {
	p := h.start(ctx, m, dir)
	defer p.end(syscall.SIGTERM)
	time.Sleep(time.Second)
	statm := must(os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid)))
	var total, resident int // in pages
	must(fmt.Sscan(string(statm), &total, &resident))
	return sample{"memory": float64(resident*os.Getpagesize()) / 1e6}
}

// importMillion measures an import of a million plants into an empty store.
func (h *harness) importMillion(ctx context.Context, m measurement, dir string) sample {
	const plants = 1_000_000
	begin := time.Now()
	if m.program == own {
		h.build(ctx, store{ascending, plants}, dir)
	} else {
		check(output(h.command(ctx, dir, m.program)))
	}
	return sample{"creates": plants / time.Since(begin).Seconds()}
}
