package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/e2e/internal/wrk"
	"plantstore/internal/auth"
)

// A harness builds the programs and measures them.
type harness struct {
	settings   settings
	progress   io.Writer
	only       *regexp.Regexp
	dir        string            // directory of all of the following
	binaries   map[string]string // paths by the names of the programs
	oneToken   string            // path of a file with one token
	manyTokens string
	token      string
}

// newHarness builds the programs and creates the tokens, in a new directory.
func newHarness(ctx context.Context, s settings, progress io.Writer) (*harness, error) {
	if _, err := exec.LookPath("wrk"); err != nil {
		return nil, fmt.Errorf("%w (make tools installs it on Debian)", err)
	}
	only, err := regexp.Compile(s.only)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.dir, 0o750); err != nil {
		return nil, err
	}
	h := &harness{settings: s, progress: progress, only: only}
	if h.dir, err = os.MkdirTemp(s.dir, "run-"); err != nil {
		return nil, err
	}
	if err := errors.Join(checkDisk(h.dir), h.writeInputs(), h.build(ctx)); err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (h *harness) close() { _ = os.RemoveAll(h.dir) }

// build builds the programs, all in the same way.
func (h *harness) build(ctx context.Context) error {
	h.binaries = map[string]string{plantstoreName: filepath.Join(h.dir, "plantstore")}
	if err := plantstore.Build(h.binaries[plantstoreName]); err != nil {
		return err
	}
	tags, err := tools.Tags()
	if err != nil {
		return err
	}
	for name, pkg := range map[string]string{
		floorName: "floor", floorPlusName: "floorplus", naiveName: "naive", sqliteName: "sqlite", bareName: "bare",
	} {
		h.binaries[name] = filepath.Join(h.dir, pkg)
		build := exec.CommandContext(ctx, "go", "build", "-tags", tags, "-trimpath", "-o", h.binaries[name], "./bench/"+pkg)
		build.Dir = h.settings.module
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%v: %w\n%s", build, err, out)
		}
	}
	return nil
}

// writeInputs writes the files that wrk reads. All tokens have the same length.
func (h *harness) writeInputs() error {
	tokens := make([]string, h.settings.tokens)
	for i := range tokens {
		var err error
		grant := auth.Grant{Subject: fmt.Sprintf("client-%07d", i), TTL: 24 * time.Hour}
		if tokens[i], err = auth.Issue(auth.Secret(secret), grant, time.Now()); err != nil {
			return err
		}
	}
	h.token = tokens[0]
	h.oneToken = filepath.Join(h.dir, "token")
	h.manyTokens = filepath.Join(h.dir, "tokens")
	return errors.Join(
		os.WriteFile(h.oneToken, []byte(h.token+"\n"), 0o600),
		os.WriteFile(h.manyTokens, []byte(strings.Join(tokens, "\n")+"\n"), 0o600),
	)
}

// measureAll returns all results.
func (h *harness) measureAll(ctx context.Context) (*results, error) {
	r := &results{
		sequential: &store{order: wrk.Ascending, plants: h.settings.sequential},
		random:     &store{order: wrk.Scattered, plants: h.settings.random},
	}
	var err error
	if r.allocations, err = h.countAllocations(ctx); err != nil {
		return nil, err
	}
	r.groups, err = h.measure(ctx, plan(r.sequential, r.random))
	return r, err
}

// fill fills the initial stores of a group, unless another group has filled them.
func (h *harness) fill(ctx context.Context, g group) error {
	for _, c := range g.contenders {
		if c.store == nil || c.store.dir != "" {
			continue
		}
		begin := time.Now()
		if err := c.store.fill(ctx, filepath.Join(h.dir, "filled-"+c.store.order)); err != nil {
			return err
		}
		fmt.Fprintf(h.progress, "%-45s filled in %v\n", c.store.name(), time.Since(begin).Round(time.Second))
	}
	return nil
}

// measure measures the groups round by round. Each round begins with another contender of a
// group, so that none always follows the same contender.
func (h *harness) measure(ctx context.Context, groups []group) ([]measured, error) {
	var all []measured
	for _, g := range groups {
		if !h.only.MatchString(g.name) {
			continue
		}
		if err := h.fill(ctx, g); err != nil {
			return nil, err
		}
		all = append(all, measured{group: g, samples: make([][]sample, len(g.contenders))})
	}
	for round := range h.settings.rounds {
		for _, m := range all {
			for i := range m.contenders {
				at := (i + round) % len(m.contenders)
				s, err := h.calmest(ctx, m.contenders[at])
				if err != nil {
					return nil, fmt.Errorf("%v, %v: %w", m.contenders[at], m.contenders[at].load, err)
				}
				m.samples[at] = append(m.samples[at], s)
			}
		}
	}
	return all, nil
}

// calm is the maximum share of the machine that other processes may use during a valid
// measurement.
const calm = 0.1

// calmest measures one contender, repeatedly while others disturb it, and returns the least
// disturbed measurement, whatever its speed.
func (h *harness) calmest(ctx context.Context, c contender) (sample, error) {
	best := sample{others: 1}
	for range h.settings.tries {
		s, err := h.sample(ctx, c)
		if err != nil {
			return sample{}, err
		}
		fmt.Fprintf(h.progress, "%-36v %-42v %8.0f/s  p99 %6.1f ms  CPU %5.1f µs  others %3.0f %%\n",
			c.load, c, s.throughput, s.p99/1000, s.cpu, 100*s.others)
		if c.load.long {
			fmt.Fprintf(h.progress, "%-36s lowest second %.2f  longest pause %v  memory %.0f MB  start after kill %v\n",
				"", s.lowest, s.pause, s.memory/1e6, s.restart)
		}
		s.bad += best.bad // of all tries
		if s.others <= best.others {
			best = s
		}
		best.bad = s.bad
		if best.others <= calm {
			break
		}
	}
	return best, nil
}
