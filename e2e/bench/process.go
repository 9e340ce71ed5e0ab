package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// secret signs the tokens.
const secret = "a secret of the benchmarks, long enough for HS256"

// patience bounds every wait for a process.
const patience = time.Minute

// A process is a running program.
type process struct {
	cmd     *exec.Cmd
	addr    string
	started time.Duration // from its start to its first response
	exited  chan struct{}
}

// start starts a program in the directory dir, and returns when the program has created a first
// plant, with a negative id, which no load uses. options are variables of its environment.
func start(ctx context.Context, binary, dir, token string, options []string, args ...string) (*process, error) {
	addr, err := freeAddr(ctx)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	p := &process{addr: addr, exited: make(chan struct{})}
	p.cmd = exec.CommandContext(ctx, binary, args...)
	p.cmd.Dir, p.cmd.Stderr = dir, log
	p.cmd.Env = append([]string{"ADDR=" + addr, "ADMIN_ADDR=127.0.0.1:0", "JWT_SECRET=" + secret}, options...)
	begin := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // its exit code does not matter
		close(p.exited)
	}()
	if err := p.awaitResponse(ctx, token); err != nil {
		p.stop()
		text, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("%s: %w\n%s", binary, err, text)
	}
	p.started = time.Since(begin)
	return p, nil
}

// freeAddr returns an address without a listener.
func freeAddr(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// awaitResponse creates a plant as soon as the program listens.
func (p *process) awaitResponse(ctx context.Context, token string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	body := fmt.Sprintf(`{"id":%d,"name":"Fern","tag":"indoor"}`, -time.Now().UnixNano())
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for {
		err := p.create(ctx, token, body)
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return err
		}
		select {
		case <-poll.C:
		case <-p.exited:
			return errors.New("it ended")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// create sends one plant; the response must be 200.
func (p *process) create(ctx context.Context, token, body string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.addr+"/plants", strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the first create got %s %s", response.Status, text)
	}
	return err
}

// kill kills the process, and waits until it has exited.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails only if the process has exited
	<-p.exited
}

// stop shuts the process down, and waits until it has exited.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails only if the process has exited
	select {
	case <-p.exited:
	case <-time.After(patience):
		p.kill()
	}
}
