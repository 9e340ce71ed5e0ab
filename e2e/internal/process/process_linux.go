// Package process runs external servers for the end-to-end tests: each in its own
// directory, at its own address, until the tests end.
package process

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"plantstore/internal/must"
)

// Patience bounds every wait for a process. It is far longer than any expected wait, so that no
// test depends on the speed of the machine.
const Patience = 4 * time.Minute

// addresses counts the addresses that were returned.
var addresses atomic.Uint32 //nolint:gochecknoglobals // all tests of a process share the machine's addresses

// Address returns an address of the loopback network that is unique to a test, and, since it
// depends on the process id, to this process.
func Address() string {
	pid, n := os.Getpid(), addresses.Add(1)
	return net.IPv4(127, byte(16+pid&0x7f), byte(pid>>7), byte(1+n%250)).String()
}

// A Process is a program under test.
type Process struct {
	// LogFile has the output of the program.
	LogFile string

	t      testing.TB
	cmd    *exec.Cmd
	exited chan struct{} // closed when the process has exited
}

// Start starts the program, which runs until the end of the test at the latest. Its output is
// appended to a file log in dir, and printed if the test fails.
func Start(t testing.TB, dir string, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{LogFile: filepath.Join(dir, "log"), t: t, cmd: cmd, exited: make(chan struct{})}
	log := must.Get(os.OpenFile(p.LogFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600))(t)
	defer func() { _ = log.Close() }()
	cmd.Stdout, cmd.Stderr = log, log
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	must.Do(t, cmd.Start())
	go func() {
		defer close(p.exited)
		_ = cmd.Wait() // usually it is killed
	}()
	t.Cleanup(p.finish)
	return p
}

// Stop sends a signal and waits until the process has exited.
func (p *Process) Stop(signal os.Signal) {
	p.t.Helper()
	_ = p.cmd.Process.Signal(signal) // fails only if the process has exited
	select {
	case <-p.exited:
	case <-time.After(Patience):
		_ = p.cmd.Process.Kill()
		<-p.exited
		p.t.Errorf("%s still ran %v after %v", p.cmd.Path, Patience, signal)
	}
}

// Kill kills the process and waits until it has exited.
func (p *Process) Kill() { p.Stop(os.Kill) }

func (p *Process) finish() {
	p.Kill()
	if text, err := os.ReadFile(p.LogFile); err == nil && p.t.Failed() {
		p.t.Logf("end of %s:\n%s", p.LogFile, text[max(0, len(text)-2000):])
	}
}

// Eventually waits until condition returns nil, and fails the test if it does not
// within [Patience].
func Eventually(t testing.TB, goal string, condition func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience) // cleanups wait, too
	defer cancel()
	var err error
	for ctx.Err() == nil {
		if err = condition(ctx); err == nil {
			return
		}
		time.Sleep(20 * time.Millisecond) // state of another process
	}
	t.Fatalf("%s: not within %v: %v", goal, Patience, err)
}

// AwaitPort waits until a server accepts connections at address.
func AwaitPort(t testing.TB, address string) {
	t.Helper()
	Eventually(t, "a server at "+address, func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	})
}

// Run runs a program, which must succeed, and returns its output.
func Run(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(context.Background(), name, args...).CombinedOutput() // cleanups run programs, too
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// Port returns address with the port of a service.
func Port(address string, port int) string { return net.JoinHostPort(address, fmt.Sprint(port)) }

// Memory returns a figure of the memory of a running process, in bytes, such as VmRSS or its
// peak VmHWM (proc_pid_status(5)).
func Memory(t testing.TB, pid int, figure string) int64 {
	t.Helper()
	all := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)))(t)
	for line := range bytes.Lines(all) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(name) != figure {
			continue
		}
		kilobytes := must.Get(strconv.ParseInt(string(bytes.Fields(value)[0]), 10, 64))(t)
		return kilobytes << 10
	}
	t.Fatalf("the system does not report %s", figure)
	return 0
}
