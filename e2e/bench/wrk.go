package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// A report is what create.lua prints at the end.
type report struct {
	Requests int64
	Duration int64 // µs
	P50, P99 float64
	Refused  int64 // answers that are no success
	Broken   int64 // requests without an answer

	cpu time.Duration // of wrk
}

// A shot is one run of wrk.
type shot struct {
	load     load
	addr     string
	first    int64  // number of the first create
	tokens   string // file
	script   string // create.lua
	duration time.Duration
}

// fire runs wrk. One thread of it is more than enough for the servers of two
// processors, and leaves them as much as it can. It makes the ids ascend, too.
func fire(ctx context.Context, s shot) (report, error) {
	cmd := exec.CommandContext(ctx, "wrk", "-t1", "-c"+strconv.Itoa(s.load.clients),
		fmt.Sprintf("-d%ds", int(s.duration.Seconds())), "--timeout", "10s", "-s", s.script, "http://"+s.addr+"/plants",
		"--", s.tokens, s.load.order, strconv.FormatInt(s.first, 10), strconv.FormatUint(uint64(stateAt(s.first)), 10))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return report{}, fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	var r report
	if err := json.Unmarshal(lines[len(lines)-1], &r); err != nil {
		return report{}, fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return r, nil
}
