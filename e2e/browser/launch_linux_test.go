package browser

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/terminal"
)

// TestBrowseOpensBrowser checks that on a terminal the command in BROWSER gets a file that leads
// the browser to the page, and that the file is removed then.
func TestBrowseOpensBrowser(t *testing.T) { //nolint:paralleltest // see TestLooks
	server := plantstore.Start(t, plantstore.Options{})
	create(t, server, server.Token(), `{"id":7,"name":"Aloe"}`)
	dir := t.TempDir()
	pipe := filepath.Join(dir, "opened")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "browser")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nprintf '%s\\n' \"$*\" > "+pipe+"\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	master, tty := terminal.Open(t)
	cmd := plantstore.Command(t, server.Dir, []string{"BROWSER=" + script, "TMPDIR=" + dir}, "plants", "browse")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = tty.Close() // the command has its own descriptor now
	link, err := bufio.NewReader(master).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	arguments, err := os.ReadFile(pipe)
	if err != nil {
		t.Fatal(err)
	}
	file := strings.TrimSpace(string(arguments))
	tb := newTab(t, desktop())
	tb.do(chromedp.Navigate("file://" + file))
	base, _, _ := strings.Cut(strings.TrimSpace(link), "#")
	ctx, cancel := context.WithTimeout(tb.ctx, patience)
	defer cancel()
	for at := ""; at != base; { // evaluating fails while one page replaces the other
		if at, err = chromedp.Run(ctx, chromedp.Evaluate[string]("location.href")); ctx.Err() != nil {
			t.Fatalf("the file leads to %s (%v), want the link %s", at, err, link)
		}
	}
	tb.first("7")
	if _, err := os.Stat(filepath.Dir(file)); err == nil {
		t.Errorf("%s still exists", file)
	}
	if _, err := master.WriteString("\x03"); err != nil { // Ctrl-C
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after Ctrl-C: %v", err)
	}
}
