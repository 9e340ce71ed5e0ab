//go:build unix

package browse

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"
)

// systemBrowsers returns the command that opens a page in the default browser.
func systemBrowsers(environ map[string]string) ([][]string, error) {
	if runtime.GOOS == "darwin" {
		return [][]string{{"open"}}, nil
	}
	if environ["DISPLAY"] == "" && environ["WAYLAND_DISPLAY"] == "" {
		return nil, errors.New("there is no display, and BROWSER is not set")
	}
	return [][]string{{"xdg-open"}}, nil
}

// detach keeps signals of the terminal, such as Ctrl-C, from the browser.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
