// Package reexec lets a test process start itself again, for operations that may crash a
// process, such as opening corrupt files.
package reexec

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// childEnv marks the processes that a [Worker] has started.
const childEnv = "REEXEC_CHILD"

// Main serves the requests of the [Worker] that has started this process, until there are no
// more: for each path it returns the result of inspect as JSON. In any other process it returns
// false at once. TestMain calls it first.
func Main(inspect func(path string) any) (code int, child bool) {
	if os.Getenv(childEnv) == "" {
		return 0, false
	}
	responses, paths := json.NewEncoder(os.Stdout), bufio.NewScanner(os.Stdin)
	for paths.Scan() {
		if err := responses.Encode(inspect(paths.Text())); err != nil {
			return 1, true
		}
	}
	return 0, true
}

// A Worker has a process that inspects files, and restarts it when it has exited. The zero
// Worker is ready for use, by one goroutine at a time.
type Worker struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *json.Decoder
	stderr strings.Builder
}

// Inspect makes the process inspect the file path and decodes the result. It returns an error if
// the process exits instead; after the time limit it is killed.
func (w *Worker) Inspect(path string, limit time.Duration, response any) error {
	if err := w.start(); err != nil {
		return err
	}
	watchdog := time.AfterFunc(limit, func() { _ = w.cmd.Process.Kill() })
	defer watchdog.Stop()
	_, _ = fmt.Fprintln(w.in, path) // if this fails, so does the next call
	if err := w.out.Decode(response); err != nil {
		return fmt.Errorf("the process that opened it ended: %w\n%s", errors.Join(err, w.Close()), &w.stderr)
	}
	return nil
}

// start starts the process unless it is running.
func (w *Worker) start() error {
	if w.cmd != nil {
		return nil
	}
	cmd := exec.CommandContext(context.Background(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=1")
	w.stderr.Reset()
	cmd.Stderr = &w.stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		return err
	}
	w.cmd, w.in, w.out = cmd, in, json.NewDecoder(out)
	return nil
}

// Close ends the process, if there is one, and returns how it exited.
func (w *Worker) Close() error {
	if w.cmd == nil {
		return nil
	}
	_ = w.in.Close() // this fails if the process has exited
	err := w.cmd.Wait()
	w.cmd = nil
	return err
}
