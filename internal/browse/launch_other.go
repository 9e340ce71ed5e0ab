//go:build !unix

package browse

import "os/exec"

// systemBrowsers returns the command that opens a page in the default browser of Windows.
func systemBrowsers(map[string]string) ([][]string, error) {
	return [][]string{{"rundll32", "url.dll,FileProtocolHandler"}}, nil
}

// detach does nothing: a browser has no console.
func detach(*exec.Cmd) {}
