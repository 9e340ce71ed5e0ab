package browse

import (
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Launch opens the link in the user's browser, with a command of BROWSER in environ or with the
// system's. Other users can see the arguments of a process, so the browser gets the name of a
// file that leads to the link, which only this user can read. The file is removed when the page
// has loaded, or by Close. failed is called if the command fails later.
func (s *Site) Launch(environ map[string]string, failed func(error)) error {
	commands, err := browsers(environ)
	if err != nil {
		return err
	}
	path, err := s.writeRedirect()
	if err != nil {
		return err
	}
	var errs []error
	for _, command := range commands {
		cmd := exec.Command(command[0], withFile(command[1:], path)...) //nolint:gosec,noctx // the user names it, and it stays open
		detach(cmd)
		if err := cmd.Start(); err != nil {
			errs = append(errs, err)
			continue
		}
		go func() {
			if err := cmd.Wait(); err != nil {
				failed(fmt.Errorf("%s: %w", command[0], err))
			}
		}()
		return nil
	}
	return errors.Join(append(errs, s.removeRedirect())...)
}

// browsers returns the commands that open a page, in the order of preference.
func browsers(environ map[string]string) (commands [][]string, err error) {
	for _, command := range filepath.SplitList(environ["BROWSER"]) {
		if fields := strings.Fields(command); len(fields) > 0 {
			commands = append(commands, fields)
		}
	}
	if commands != nil {
		return commands, nil
	}
	return systemBrowsers(environ)
}

// withFile returns the arguments of a browser with the path instead of %s, or at the end.
func withFile(args []string, path string) (all []string) {
	replaced := false
	for _, arg := range args {
		replaced = replaced || strings.Contains(arg, "%s")
		all = append(all, strings.ReplaceAll(arg, "%s", path))
	}
	if !replaced {
		all = append(all, path)
	}
	return all
}

// writeRedirect writes the file that leads to the link, and returns its path.
func (s *Site) writeRedirect() (path string, err error) {
	dir, err := os.MkdirTemp("", "plantstore-browse-")
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redirect = dir
	path = filepath.Join(dir, "plants.html")
	text := "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Plants</title>\n<meta name=\"referrer\" content=\"no-referrer\">\n" +
		"<meta http-equiv=\"refresh\" content=\"0; url=" + html.EscapeString(s.Link()) + "\">\n"
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// removeRedirect removes the file that leads to the link, if there is one.
func (s *Site) removeRedirect() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.redirect == "" {
		return nil
	}
	err := os.RemoveAll(s.redirect)
	s.redirect = ""
	return err
}
