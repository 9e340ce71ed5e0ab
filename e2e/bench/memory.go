package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// memoryPeriod is the interval between two samples of a server's memory.
const memoryPeriod = 100 * time.Millisecond

// memoryOf returns the bytes of a process that are in memory, without the pages of
// mapped files: the kernel reclaims these when it needs them.
func memoryOf(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	total := 0.0
	for line := range bytes.Lines(status) {
		fields := bytes.Fields(line)
		if len(fields) < 2 {
			continue
		}
		switch string(fields[0]) {
		case "RssAnon:", "RssShmem:":
			kibibytes, err := strconv.ParseInt(string(fields[1]), 10, 64)
			if err != nil {
				return 0, err
			}
			total += float64(kibibytes) * 1024
		}
	}
	return total, nil
}

// watchMemory calls read each [memoryPeriod] until most is called, which returns the maximum.
func watchMemory(read func() (float64, error)) (most func() (float64, error)) {
	type outcome struct {
		most float64
		err  error
	}
	end, result := make(chan struct{}), make(chan outcome)
	go func() {
		tick := time.NewTicker(memoryPeriod)
		defer tick.Stop()
		var o outcome
		for ended := false; ; {
			now, err := read()
			if err != nil || ended {
				result <- outcome{max(o.most, now), err}
				return
			}
			o.most = max(o.most, now)
			select {
			case <-tick.C:
			case <-end:
				ended = true
			}
		}
	}()
	return func() (float64, error) {
		close(end)
		o := <-result
		return o.most, o.err
	}
}
