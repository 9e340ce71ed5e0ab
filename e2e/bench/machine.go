package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The kinds of file systems without a disk, as reported by statfs(2).
const (
	tmpfs = 0x01021994
	ramfs = 0x858458f6
)

// memoryDir is on a file system in memory.
const memoryDir = "/dev/shm"

// checkDisk refuses a directory on a file system in memory, where a sync is free.
func checkDisk(dir string) error {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if stat.Type == tmpfs || stat.Type == ramfs {
		return fmt.Errorf("%s is on a file system in memory: choose a directory on a disk with -dir", dir)
	}
	return nil
}

// A machine describes the machine of the figures.
type machine struct {
	processor string
	cores     int
	kernel    string
	sync      time.Duration // median, for 4 KiB
	syncCPU   time.Duration // mean, for the same
}

// describeMachine describes this machine and the disk of dir.
func describeMachine(dir string) (machine, error) {
	kernel, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return machine{}, err
	}
	cpus, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return machine{}, err
	}
	m := machine{processor: "unknown", cores: runtime.NumCPU(), kernel: strings.TrimSpace(string(kernel))}
	if model := regexp.MustCompile(`model name\s*: (.*)`).FindSubmatch(cpus); model != nil {
		m.processor = string(model[1])
	}
	m.sync, m.syncCPU, err = timeSync(dir)
	return m, err
}

// timeSync returns the median time of a write of 4 KiB with its sync, and the mean
// processor time.
func timeSync(dir string) (took, cost time.Duration, err error) {
	f, err := os.Create(filepath.Join(dir, "sync"))
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = f.Close() }()
	page, times := make([]byte, 4096), make([]time.Duration, 0, 200)
	before, err := ownCPU()
	if err != nil {
		return 0, 0, err
	}
	for range cap(times) {
		begin := time.Now()
		if _, err := f.WriteAt(page, 0); err != nil {
			return 0, 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, 0, err
		}
		times = append(times, time.Since(begin))
	}
	after, err := ownCPU()
	slices.Sort(times)
	return times[len(times)/2], (after - before) / time.Duration(len(times)), err
}

// ownCPU returns the processor time that this process has used.
func ownCPU() (time.Duration, error) {
	var usage syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), err
}
