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
	"slices"
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
	dir        string            // in which all of the following is
	binaries   map[string]string // paths by the names of the programs
	oneToken   string            // path of a file with one token
	manyTokens string
	token      string
}

// newHarness builds the programs and makes the tokens, in a new folder.
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
	if err := plantstore.Build(h.binaries[plantstoreName]); err != nil { //nolint:contextcheck // as for the tests, which have none then
		return err
	}
	tags, err := tools.Tags() //nolint:contextcheck // go env, which is all it runs, is done at once
	if err != nil {
		return err
	}
	for name, pkg := range map[string]string{
		floorName: "floor", floorPlusName: "floorplus", naiveName: "naive", sqliteName: "sqlite",
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

// writeInputs writes what wrk reads. All tokens are of one length.
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

// measureAll returns all results there are.
func (h *harness) measureAll(ctx context.Context) (*results, error) {
	r := &results{}
	var err error
	if r.allocations, err = h.countAllocations(ctx); err != nil {
		return nil, err
	}
	r.groups, err = h.measure(ctx, plan())
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(storedPlan(nil, nil), h.wanted) {
		return r, nil
	}
	if r.sequential, err = h.fill(ctx, wrk.Ascending, h.settings.sequential); err != nil {
		return nil, err
	}
	if r.random, err = h.fill(ctx, wrk.Scattered, h.settings.random); err != nil {
		return nil, err
	}
	r.stored, err = h.measure(ctx, storedPlan(r.sequential, r.random))
	return r, err
}

// wanted reports whether a group is to be measured.
func (h *harness) wanted(g group) bool { return h.only.MatchString(g.name) }

// fill fills a store that the loads of storedPlan start with.
func (h *harness) fill(ctx context.Context, order string, plants int64) (*store, error) {
	begin := time.Now()
	s, err := fill(ctx, filepath.Join(h.dir, "filled-"+order), order, plants)
	if err == nil {
		fmt.Fprintf(h.progress, "%-45s filled in %v\n", s.name, time.Since(begin).Round(time.Second))
	}
	return s, err
}

// measure measures the groups round by round. In each round another contender of
// a group is the first, so that none always follows the same one.
func (h *harness) measure(ctx context.Context, groups []group) ([]measured, error) {
	var all []measured
	for _, g := range groups {
		if h.wanted(g) {
			all = append(all, measured{group: g, samples: make([][]sample, len(g.contenders))})
		}
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

// calm is the share of the machine that others may use for a measurement to be
// good enough.
const calm = 0.1

// calmest measures one contender, as often as it may while others disturb it,
// and returns the measurement that they disturbed least, however fast it was.
func (h *harness) calmest(ctx context.Context, c contender) (sample, error) {
	best := sample{others: 1}
	for range h.settings.tries {
		s, err := h.sample(ctx, c)
		if err != nil {
			return sample{}, err
		}
		fmt.Fprintf(h.progress, "%-36v %-42v %8.0f/s  p99 %6.1f ms  CPU %5.1f µs  others %3.0f %%\n",
			c.load, c, s.throughput, s.p99/1000, s.cpu, 100*s.others)
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

// sample measures one contender once, in a process of its own.
func (h *harness) sample(ctx context.Context, c contender) (sample, error) {
	used := c.store
	if used == nil {
		dir, err := os.MkdirTemp(h.diskFor(c.load), "plantstore-bench-")
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		used = &store{dir: dir}
	}
	var args []string
	if c.program == plantstoreName {
		args = []string{"serve"}
	}
	p, err := start(ctx, h.binaries[c.program], used.dir, h.token, strings.Fields(c.options), args...)
	if err != nil {
		return sample{}, err
	}
	defer p.stop()
	if h.settings.warmUp > 0 {
		if _, err := h.shoot(ctx, c, used, p, h.settings.warmUp); err != nil {
			return sample{}, err
		}
	}
	return h.shoot(ctx, c, used, p, h.settings.duration)
}

// diskFor returns where the new database of a load is put.
func (h *harness) diskFor(l load) string {
	if l.memory {
		return memoryDir
	}
	return h.dir
}

// shoot loads the process for that time.
func (h *harness) shoot(ctx context.Context, c contender, used *store, p *process, d time.Duration) (sample, error) {
	s := wrk.Shot{Addr: p.addr, Clients: c.load.clients, Order: c.load.order, First: used.next, Tokens: h.oneToken, Duration: d}
	if c.load.many {
		s.Tokens = h.manyTokens
	}
	before, err := usageOf(p)
	if err != nil {
		return sample{}, err
	}
	r, err := wrk.Fire(ctx, s)
	if err != nil {
		return sample{}, err
	}
	after, err := usageOf(p)
	if err != nil {
		return sample{}, err
	}
	// wrk does not count what it has sent but not seen answered.
	used.next += r.Requests + r.Broken + 2*int64(c.load.clients)
	process := after.process - before.process
	return sample{
		throughput: r.Throughput(),
		p50:        r.P50,
		p99:        r.P99,
		cpu:        float64(process.Microseconds()) / float64(max(1, r.Requests)),
		others:     max(0, float64(after.machine-before.machine-process-r.CPU)/float64(after.total-before.total)),
		start:      p.started,
		bad:        r.Refused + r.Broken,
	}, nil
}
