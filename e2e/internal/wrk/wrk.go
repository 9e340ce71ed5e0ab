// Package wrk loads servers with creates, each with its own id.
package wrk

import (
	"bytes"
	"context"
	_ "embed" // number in create.lua
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// The orders of ids in create.lua.
const (
	Ascending = "ascending"
	Scattered = "scattered"
)

// firstID is the least id. It is also in create.lua.
const firstID = 1e15

//go:embed create.lua
var script []byte

// A Shot is one run of wrk.
type Shot struct {
	Addr     string // address of the server, host and port
	Clients  int
	Order    string // order of the ids: Ascending or Scattered
	First    int64  // number of the first create, from 0 on
	Tokens   string // path of a file with a token on each line, all of one length
	Duration time.Duration
	Paced    bool // report each second
}

// A Report is the output of create.lua.
type Report struct {
	Requests int64
	Duration int64 // µs
	P50, P99 float64
	Refused  int64 // unsuccessful responses
	Broken   int64 // requests without a response

	// Only of a paced shot:
	Seconds []int64 // responses in each complete second
	Pause   int64   // longest time without a response, in µs

	CPU time.Duration `json:"-"` // output of wrk
}

// Throughput returns the responses in a second.
func (r Report) Throughput() float64 { return float64(r.Requests) / (float64(r.Duration) / 1e6) }

// Fire runs wrk with one thread: this is more than enough for a server on two processors, leaves
// it most of the processor time, and keeps the ids in ascending order.
func Fire(ctx context.Context, s Shot) (r Report, err error) {
	file, err := os.CreateTemp("", "create-*.lua")
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	_, err = file.Write(script)
	if err := errors.Join(err, file.Close()); err != nil {
		return Report{}, err
	}
	pace := ""
	if s.Paced {
		pace = "paced"
	}
	cmd := exec.CommandContext(ctx, "wrk", "-t1", "-c"+strconv.Itoa(s.Clients),
		fmt.Sprintf("-d%ds", int(s.Duration.Seconds())), "--timeout", "10s", "-s", file.Name(), "http://"+s.Addr+"/plants",
		"--", s.Tokens, s.Order, strconv.FormatInt(s.First, 10), strconv.FormatUint(uint64(stateAt(s.First)), 10), pace)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return Report{}, fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], &r); err != nil {
		return Report{}, fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	r.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return r, nil
}

// IDAt returns the id of create n of an order, from 0 on.
func IDAt(order string, n int64) int64 {
	if order == Ascending {
		return firstID + n
	}
	return firstID + int64(stateAt(n+1))
}

// stateAt returns the state of create.lua's generator after n steps. A step is
// x -> a*x + c; twice that is x -> a*a*x + (a+1)*c, and so on.
func stateAt(n int64) uint32 {
	x, a, c := uint32(0), uint32(1664525), uint32(1013904223)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			x = a*x + c
		}
		a, c = a*a, (a+1)*c
	}
	return x
}
