// Bench measures how fast the server creates plants, compared with programs that bound the
// possible throughput: see docs/benchmarks.md, which it writes. It is started by make bench, and
// requires Linux and wrk.
//
// The programs are measured one after the other, round by round, so that disturbances of
// the machine affect all of them; the result is the median of the ratios within the
// rounds.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"plantstore/e2e/internal/tools"
)

// settings are the settings of a run.
type settings struct {
	rounds     int
	duration   time.Duration // of one measurement; wrk takes whole seconds
	long       time.Duration // of one measurement of the long load
	warmUp     time.Duration // before each measurement; 0 means none
	tries      int           // of each measurement, until it is calm
	tokens     int           // of the runs with many tokens
	sequential int64         // initially stored plants, with ascending ids
	random     int64         // the same with scattered ids
	creates    string        // number of creates for counting allocations, as for -benchtime
	only       string        // regular expression of the measurements to run
	quick      bool          // for development: see hurry
	module     string        // directory of the module of the end-to-end tests
	dir        string        // of the data
	out        string        // the document that is written
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // there is no work left to stop
	}
}

// run measures and reports: the table of the targets to stdout, its progress to progress, and
// all results to the document. A missed target is not an error, since it depends on the machine
// as much as on the program.
func run(ctx context.Context, args []string, stdout, progress io.Writer) error {
	s, err := parse(args, progress)
	if err != nil {
		return err
	}
	h, err := newHarness(ctx, s, progress)
	if err != nil {
		return err
	}
	defer h.close()
	r, err := h.measureAll(ctx)
	if err != nil {
		return err
	}
	machine, err := describeMachine(h.dir)
	if err != nil {
		return err
	}
	fmt.Fprint(stdout, tableOfTargets(targets(r)))
	return os.WriteFile(s.out, []byte(document(s, machine, r)), 0o644)
}

// parse reads the flags.
func parse(args []string, output io.Writer) (settings, error) {
	module, err := tools.ModuleDir()
	if err != nil {
		return settings{}, err
	}
	s, root := settings{module: module}, filepath.Dir(module)
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.IntVar(&s.rounds, "rounds", 5, "measure everything so `many` times")
	flags.DurationVar(&s.duration, "duration", 5*time.Second, "`time` of one measurement, in whole seconds")
	flags.DurationVar(&s.long, "long", time.Minute, "`time` of one measurement of the long load, in whole seconds")
	flags.DurationVar(&s.warmUp, "warm-up", time.Second, "`time` of load before each measurement, in whole seconds")
	flags.IntVar(&s.tries, "tries", 3, "measure up to so `many` times where others disturb the machine, and take the calmest")
	flags.IntVar(&s.tokens, "tokens", 10_000, "so `many` different tokens in the runs with many tokens")
	flags.Int64Var(&s.sequential, "sequential", 10_000_000, "so `many` plants of ascending ids in the store that is not empty")
	flags.Int64Var(&s.random, "random", 5_000_000, "so `many` plants of scattered ids in the store that is not empty")
	flags.StringVar(&s.creates, "creates", "100000x", "count allocations for so `many` creates, as go test -benchtime has it")
	flags.StringVar(&s.only, "only", "", "measure only the groups whose name matches `regexp`, such as '^ascending ids, c=64'")
	flags.BoolVar(&s.quick, "quick", false, "for development: one short round, with fewer plants stored, into .bench/benchmarks.md; other flags still count")
	flags.StringVar(&s.dir, "dir", filepath.Join(root, ".bench"), "`directory` for the data, on a real disk")
	flags.StringVar(&s.out, "out", filepath.Join(root, "docs", "benchmarks.md"), "`file` to write all figures to")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if s.quick {
		if err := hurry(flags, filepath.Join(s.dir, "benchmarks.md")); err != nil {
			return s, err
		}
	}
	small := s.rounds < 1 || s.tries < 1 || s.duration < time.Second || s.long < time.Second || s.tokens < 1 || s.sequential < 1 || s.random < 1
	if flags.NArg() > 0 || small {
		return s, errors.New("there is an extra argument, or a value is too small")
	}
	return s, nil
}

// hurry sets the flags that were not given to the values of a quick run.
func hurry(flags *flag.FlagSet, out string) error {
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	for name, value := range map[string]string{
		"rounds": "1", "duration": "2s", "long": "10s", "tries": "1", "tokens": "1000",
		"sequential": "1000000", "random": "1000000", "creates": "10000x", "out": out,
	} {
		if given[name] {
			continue
		}
		if err := flags.Set(name, value); err != nil {
			return err
		}
	}
	return nil
}
