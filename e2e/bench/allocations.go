package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"plantstore/e2e/internal/tools"
)

// countAllocations returns the number of allocations of the server for each create, from the
// first byte read to the last byte written, by a benchmark that runs all of it in one process.
func (h *harness) countAllocations(ctx context.Context) (float64, error) {
	tags, err := tools.Tags()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-tags", tags, "-run", "^$",
		"-bench", "^BenchmarkCreate$", "-benchtime", h.settings.creates, "./internal/cli")
	cmd.Dir = filepath.Dir(h.settings.module)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	found := regexp.MustCompile(`([0-9.]+) allocs/op`).FindSubmatch(out)
	if found == nil {
		return 0, fmt.Errorf("%v: no allocs/op in:\n%s", cmd, out)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}
