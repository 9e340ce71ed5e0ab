package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"plantstore/e2e/internal/plantstore"
)

// A process is a running server.
type process struct {
	cmd     *exec.Cmd
	addr    string
	started time.Duration // from its start to its first response
}

// start starts the program of a measurement, and returns when it has created a plant, with a negative
// id, which no load uses.
func (h *harness) start(ctx context.Context, m measurement, dir string) (*process, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &process{cmd: h.command(ctx, dir, m.program, "serve"), addr: listener.Addr().String()}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err := errors.Join(err, listener.Close()); err != nil { // the address is free now
		return nil, err
	}
	defer func() { _ = log.Close() }()
	p.cmd.Env, p.cmd.Stderr = append(p.cmd.Env, "ADDR="+p.addr, "ADMIN_ADDR=127.0.0.1:0"), log
	begin := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	var r plantstore.Reply
	err = syscall.ECONNREFUSED
	for errors.Is(err, syscall.ECONNREFUSED) && time.Since(begin) < plantstore.Patience {
		body := fmt.Sprintf(`{"id":%d,"name":"Fern","tag":"indoor"}`, -time.Now().UnixNano())
		r, err = plantstore.Post(ctx, http.DefaultClient, "http://"+p.addr, h.token, body)
		p.started = time.Since(begin)
		time.Sleep(time.Millisecond)
	}
	if err != nil || r.Status != http.StatusOK {
		p.end(os.Kill)
		text, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("the first create by %s got %d %s, %w\n%s", m.program, r.Status, r.Body, err, text)
	}
	return p, nil
}

// end signals the process, and waits until it has exited.
func (p *process) end(signal os.Signal) {
	_ = p.cmd.Process.Signal(signal) // fails only if the process has exited
	_ = p.cmd.Wait()                 // its exit code does not matter
}
