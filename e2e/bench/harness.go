package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/keys"
	"plantstore/middleware/auth"
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
// resident in MB; cpu, the processor time of a create in microseconds; start, from the start to the first response in milliseconds; and others, the share of
// the machine that other processes used.
type sample map[string]float64

// load measures creates over a number of connections, after a second to warm up.
func (h *harness) load(ctx context.Context, m measurement, dir string) sample {
	p := h.start(ctx, m, dir)
	defer p.end(syscall.SIGTERM)
	warm := h.fire(ctx, m, p.addr, m.stored.plants, time.Second)
	read := make(chan error, 1)
	go func() { // a command that reads must end before the load does
		ctx, cancel := context.WithTimeout(ctx, m.duration)
		defer cancel()
		time.Sleep(m.duration / 10)
		if m.read == "" {
			read <- nil
		} else {
			read <- output(h.command(ctx, dir, own, strings.Fields(m.read)...))
		}
	}()
	next := m.stored.plants + int64(warm["requests"]+warm["bad"]) + 2*int64(m.Clients) // wrk does not count requests in flight
	s := h.fire(ctx, m, p.addr, next, m.duration)
	check(<-read)
	p.end(syscall.SIGTERM)
	used := p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
	s["cpu"] = float64(used.Microseconds()) / (warm["requests"] + s["requests"])
	return s
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

// idle measures the resident memory of a server after one create on each of its connections.
func (h *harness) idle(ctx context.Context, m measurement, dir string) sample {
	p := h.start(ctx, m, dir)
	defer p.end(syscall.SIGTERM)
	for n := range m.Clients {
		c := must(plantstore.DialFrom(ctx, "http://"+p.addr, 2+n%20)) // from several addresses, which have enough ports
		defer func() { _ = c.Close() }()
		must(c.Do(plantstore.Create(h.token, fmt.Sprintf(`{"id":%d,"name":"Fern","tag":"indoor"}`, n))))
	}
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
	h.build(ctx, store{m.order, plants}, dir)
	return sample{"creates": plants / time.Since(begin).Seconds()}
}

const (
	// own is the program plantstore. All others are in the package reference.
	own = "plantstore"
	// referenceCommand is the argument before the name of a reference program.
	referenceCommand = "reference"
	// secret signs the tokens.
	secret = "a secret of the benchmarks, long enough for HS256"
)

// A harness runs the measurements.
type harness struct {
	dir    string // of the binary of plantstore and the databases
	script string // path of create.lua
	token  string
}

// newHarness builds plantstore in dir.
func newHarness(dir, script string) *harness {
	check(plantstore.Build(filepath.Join(dir, own)))
	token := must(keys.HS256(auth.Secret(secret)).Issue(keys.Grant{Subject: "bench", TTL: 24 * time.Hour}, time.Now()))
	return &harness{dir: dir, script: script, token: token}
}

// command returns a run of a program in dir: of plantstore with args, or of a reference program.
func (h *harness) command(ctx context.Context, dir, program string, args ...string) *exec.Cmd {
	path := filepath.Join(h.dir, own)
	if program != own {
		path, args = "/proc/self/exe", []string{referenceCommand, program}
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = dir, []string{"JWT_SECRET=" + secret}
	return cmd
}

// output runs a command, and returns its output in the error if it fails.
func output(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return nil
}

// measure measures everything in each round. Every other round is in reverse order, so that no
// measurement always follows the same one.
func (h *harness) measure(ctx context.Context, all []measurement, rounds int) results {
	r, order := results{}, slices.Clone(all)
	for range rounds {
		for _, m := range order {
			s := h.sample(ctx, m)
			fmt.Fprintf(os.Stderr, "%-46s %v\n", m.Name, s)
			r[m.Name] = append(r[m.Name], s)
		}
		slices.Reverse(order)
	}
	return r
}

// sample measures once, in a new directory with a copy of the store.
func (h *harness) sample(ctx context.Context, m measurement) sample {
	dir := must(os.MkdirTemp(h.dir, "sample-"))
	defer func() { _ = os.RemoveAll(dir) }() // so does run
	if built := filepath.Join(h.dir, fmt.Sprint(m.stored.order, m.stored.plants)); m.stored.plants > 0 {
		if _, err := os.Stat(built); err != nil { // the first use builds the store
			check(os.Mkdir(built, 0o700))
			h.build(ctx, m.stored, built)
		}
		check(os.CopyFS(dir, os.DirFS(built)))
		syscall.Sync() // so that the kernel does not write the copy back during the measurement
	}
	othersBefore, totalBefore := usage()
	s := m.run(h, ctx, m, dir)
	othersAfter, totalAfter := usage()
	s["others"] = max(0, float64(othersAfter-othersBefore)/float64(totalAfter-totalBefore))
	return s
}

// A store is a database that contains the first plants of an order.
type store struct {
	order  string
	plants int64
}

// build imports the plants of the store into an empty database in dir.
func (h *harness) build(ctx context.Context, s store, dir string) {
	cmd := h.command(ctx, dir, own, "plants", "import", "--quiet", "-")
	r, w := io.Pipe()
	cmd.Stdin = r
	go func() {
		buffer := bufio.NewWriter(w)
		for n := range s.plants {
			if s.order == scattered {
				n = rand.Int64N(8e15)
			}
			fmt.Fprintf(buffer, `{"id":%d,"name":"Fern","tag":"indoor"}`+"\n", 1e15+n)
		}
		_ = w.CloseWithError(buffer.Flush()) // it always returns nil
	}()
	check(output(cmd))
}

// usage returns the processor time used so far, in nanoseconds: by all but this process and the
// children that it has waited for, and by all, with idle time.
func usage() (others, total int64) {
	var self, children syscall.Rusage
	check(errors.Join(syscall.Getrusage(syscall.RUSAGE_SELF, &self), syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children)))
	stat := must(os.ReadFile("/proc/stat"))
	var user, nice, system, idle, iowait, irq, softirq int64 // in ticks
	must(fmt.Sscan(strings.TrimPrefix(string(stat), "cpu"), &user, &nice, &system, &idle, &iowait, &irq, &softirq))
	const tick = 10_000_000 // of proc(5), on every Linux
	busy := (user + nice + system + irq + softirq) * tick
	own := self.Utime.Nano() + self.Stime.Nano() + children.Utime.Nano() + children.Stime.Nano()
	return busy - own, busy + (idle+iowait)*tick
}

// A process is a running server.
type process struct {
	cmd     *exec.Cmd
	addr    string
	started time.Duration // from its start to its first response
}

// start starts the program of a measurement, and returns when it has created a plant, with a negative
// id, which no load uses.
func (h *harness) start(ctx context.Context, m measurement, dir string) *process {
	listener := must(new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0"))
	p := &process{cmd: h.command(ctx, dir, m.program, "serve"), addr: listener.Addr().String()}
	check(listener.Close()) // the address is free now
	log := must(os.Create(filepath.Join(dir, "log")))
	defer func() { _ = log.Close() }()
	p.cmd.Env, p.cmd.Stderr = append(p.cmd.Env, "ADDR="+p.addr, "ADMIN_ADDR=127.0.0.1:0"), log
	begin := time.Now()
	check(p.cmd.Start())
	var r plantstore.Reply
	var err error = syscall.ECONNREFUSED
	for errors.Is(err, syscall.ECONNREFUSED) && time.Since(begin) < plantstore.Patience {
		body := fmt.Sprintf(`{"id":%d,"name":"Fern","tag":"indoor"}`, -time.Now().UnixNano())
		r, err = plantstore.Post(ctx, http.DefaultClient, "http://"+p.addr, h.token, body)
		p.started = time.Since(begin)
		time.Sleep(time.Millisecond)
	}
	if err != nil || r.Status != http.StatusOK {
		p.end(os.Kill)
		text, _ := os.ReadFile(log.Name())
		panic(fmt.Errorf("the first create by %s got %d %s, %w\n%s", m.program, r.Status, r.Body, err, text))
	}
	return p
}

// end signals the process, and waits until it has exited.
func (p *process) end(signal os.Signal) {
	_ = p.cmd.Process.Signal(signal) // fails only if the process has exited
	_ = p.cmd.Wait()                 // its exit code does not matter
}
