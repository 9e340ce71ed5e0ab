package plantstore

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// suffix ends the name of a program.
const suffix = ".exe"

// detach lets shutDown end the command alone.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// shutDown does what Ctrl-Break does.
func shutDown(p *os.Process) error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.Pid))
}
