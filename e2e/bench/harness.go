package main

import (
	"bufio"
	"context"
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
	"strings"
	"syscall"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/auth"
)

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
	token := must(auth.Issue(auth.Secret(secret), auth.Grant{Subject: "bench", TTL: 24 * time.Hour}, time.Now()))
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
	if m.stored.plants > 0 {
		h.copyStore(ctx, m.stored, dir)
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

// copyStore copies the store to dir. The first use of a store builds it.
func (h *harness) copyStore(ctx context.Context, s store, dir string) {
	built := filepath.Join(h.dir, fmt.Sprint(s.order, s.plants))
	if _, err := os.Stat(built); err != nil {
		check(os.Mkdir(built, 0o700))
		h.build(ctx, s, built)
	}
	check(os.CopyFS(dir, os.DirFS(built)))
	syscall.Sync() // so that the kernel does not write the copy back during the measurement
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
