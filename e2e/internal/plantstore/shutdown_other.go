//go:build !windows

package plantstore

import (
	"os"
	"os/exec"
	"syscall"
)

// suffix ends the name of a program.
const suffix = ""

// detach lets shutDown end the command alone.
func detach(*exec.Cmd) {}

// shutDown sends SIGTERM.
func shutDown(p *os.Process) error { return p.Signal(syscall.SIGTERM) }
