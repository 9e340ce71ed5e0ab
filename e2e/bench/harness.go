package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
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
func newHarness(dir, script string) (*harness, error) {
	token, err := auth.Issue(auth.Secret(secret), auth.Grant{Subject: "bench", TTL: 24 * time.Hour}, time.Now())
	return &harness{dir: dir, script: script, token: token}, errors.Join(err, plantstore.Build(filepath.Join(dir, own)))
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

// measure measures everything in each round. Every other round is in reverse order, so that no
// measurement always follows the same one.
func (h *harness) measure(ctx context.Context, all []measurement, rounds int) (results, error) {
	r, order := results{}, slices.Clone(all)
	for range rounds {
		for _, m := range order {
			s, err := h.sample(ctx, m)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.Name, err)
			}
			fmt.Fprintf(os.Stderr, "%-46s %v\n", m.Name, s)
			r[m.Name] = append(r[m.Name], s)
		}
		slices.Reverse(order)
	}
	return r, nil
}

// sample measures once, in a new directory with a copy of the store.
func (h *harness) sample(ctx context.Context, m measurement) (s sample, err error) {
	dir, err := os.MkdirTemp(h.dir, "sample-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := h.copyStore(ctx, m.stored, dir); err != nil {
		return nil, err
	}
	before, beforeErr := readUsage()
	s, err = m.run(h, ctx, m, dir)
	after, afterErr := readUsage()
	if err := errors.Join(err, beforeErr, afterErr); err != nil {
		return nil, err
	}
	s[others] = max(0, float64(after.others-before.others)/float64(after.total-before.total))
	return s, nil
}

// A store is a database that contains the first plants of an order.
type store struct {
	order  string
	plants int64
}

// copyStore copies the store to dir. The first use of a store builds it.
func (h *harness) copyStore(ctx context.Context, s store, dir string) error {
	if s.plants == 0 {
		return nil
	}
	built := filepath.Join(h.dir, fmt.Sprint(s.order, s.plants))
	if _, err := os.Stat(built); err != nil {
		if err := errors.Join(os.Mkdir(built, 0o700), h.build(ctx, s, built)); err != nil {
			return err
		}
	}
	if err := os.CopyFS(dir, os.DirFS(built)); err != nil {
		return err
	}
	syscall.Sync() // so that the kernel does not write the copy back during the measurement
	return nil
}

// build imports the plants of the store into an empty database in dir.
func (h *harness) build(ctx context.Context, s store, dir string) error {
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
	return output(cmd)
}

// A usage is the processor time used up to a moment, in nanoseconds.
type usage struct {
	others int64 // by all but this process and the children that it has waited for
	total  int64 // by all, and idle time
}

func readUsage() (u usage, err error) {
	var self, children syscall.Rusage
	stat, err := os.ReadFile("/proc/stat")
	err = errors.Join(err, syscall.Getrusage(syscall.RUSAGE_SELF, &self), syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children))
	var user, nice, system, idle, iowait, irq, softirq, steal int64 // in ticks
	_, scanErr := fmt.Sscan(strings.TrimPrefix(string(stat), "cpu"), &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal)
	const tick = 10_000_000 // of proc(5), on every Linux
	busy := (user + nice + system + irq + softirq + steal) * tick
	own := self.Utime.Nano() + self.Stime.Nano() + children.Utime.Nano() + children.Stime.Nano()
	return usage{others: busy - own, total: busy + (idle+iowait)*tick}, errors.Join(err, scanErr)
}
