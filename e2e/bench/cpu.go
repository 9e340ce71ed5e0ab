package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of all times in /proc, on every Linux.
const tick = 10 * time.Millisecond

// A usage is the processor time used up to a moment.
type usage struct {
	process time.Duration // of one process
	machine time.Duration // of all processes and the kernel
	total   time.Duration // of all processes, and idle time
}

// usageOf returns the usage, including that of the process p.
func usageOf(p *process) (usage, error) {
	process, err := readTimes(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return usage{}, err
	}
	machine, err := readTimes("/proc/stat")
	if err != nil {
		return usage{}, err
	}
	const ( // the fields of proc(5)
		utime, stime = 11, 12 // after the name of the program
		idle, iowait = 3, 4   // after "cpu"
		last         = 8      // guest time follows it, and is part of user
	)
	if len(process) <= stime || len(machine) < last {
		return usage{}, fmt.Errorf("/proc has too few fields: %v, %v", process, machine)
	}
	u := usage{process: process[utime] + process[stime]}
	for _, t := range machine[:last] {
		u.total += t
	}
	u.machine = u.total - machine[idle] - machine[iowait]
	return u, nil
}

// readTimes returns the fields of the first line of a file in /proc, after the initial name, as
// times. A field that is not a number is 0.
func readTimes(path string) ([]time.Duration, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	// The name of a program, in brackets, may contain any character.
	line = strings.TrimPrefix(line[strings.LastIndexByte(line, ')')+1:], "cpu")
	fields := strings.Fields(line)
	times := make([]time.Duration, len(fields))
	for i, field := range fields {
		n, _ := strconv.ParseInt(field, 10, 64)
		times[i] = time.Duration(n) * tick
	}
	return times, nil
}
