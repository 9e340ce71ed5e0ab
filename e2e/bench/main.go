// Bench compares the server with programs that bound its possible speed, and writes
// docs/benchmarks.md. make bench runs it; it requires Linux and wrk.
package main

import (
	"context"
	_ "embed" // of document.md.tmpl
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"text/template"
	"time"

	"plantstore/e2e/bench/reference"
	"plantstore/e2e/internal/tools"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// check ends the run if there is an error.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// must returns v, or ends the run.
func must[T any](v T, err error) T {
	check(err)
	return v
}

// run prints the results to stdout, and writes the document unless -only is set. A missed target
// is not an error: it depends on the machine, too.
func run(ctx context.Context) (err error) {
	if len(os.Args) == 3 && os.Args[1] == referenceCommand {
		return reference.Run(os.Args[2])
	}
	only := regexp.MustCompile("") // the zero value matches nothing: it panics
	rounds := flag.Int("rounds", 5, "`number` of rounds, each of which measures everything once")
	flag.TextVar(only, "only", only, "measure only the targets whose name matches `regexp`, and write no document")
	flag.Parse()
	d := document{Rounds: *rounds}
	for _, t := range targets() {
		if t.of != nil && !only.MatchString(t.Name) {
			continue
		}
		d.Targets = append(d.Targets, t)
		for _, m := range t.of {
			if !slices.ContainsFunc(d.Measurements, func(other measurement) bool { return other.Name == m.Name }) {
				d.Measurements = append(d.Measurements, m)
			}
		}
	}
	if flag.NArg() > 0 || *rounds < 1 || len(d.Measurements) == 0 {
		return errors.New("there is an extra argument, no round, or no target that matches -only")
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	root := must(tools.ProjectDir())
	dir := must(os.MkdirTemp(root, ".bench-"))
	defer func() { _ = os.RemoveAll(dir) }() // git ignores it, and make clean removes it
	h := newHarness(dir, filepath.Join(root, "e2e", "bench", "create.lua"))
	d.Results = h.measure(ctx, d.Measurements, *rounds)
	d.write(os.Stdout, "results")
	if only.String() == "" {
		file := must(os.Create(filepath.Join(root, "docs", "benchmarks.md")))
		d.write(file, "document")
		check(file.Close())
	}
	return nil
}

//go:embed document.md.tmpl
var documentText string

// A document is the data of document.md.tmpl.
type document struct {
	Rounds       int
	Targets      []target
	Measurements []measurement
	Results      results
}

// write writes a part of the template.
func (d document) write(file *os.File, part string) {
	check(template.Must(template.New("").Parse(documentText)).ExecuteTemplate(file, part, d))
}

// Machine describes this machine, now.
func (document) Machine() string {
	cpus, _ := os.ReadFile("/proc/cpuinfo") // empty: unknown
	_, processor, _ := strings.Cut(string(regexp.MustCompile(`model name\s*: .*`).Find(cpus)), ": ")
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("%s, on %s with %d cores, Linux %s and %s",
		time.Now().UTC().Format(time.DateOnly), processor, runtime.NumCPU(), strings.TrimSpace(string(kernel)), runtime.Version())
}
