package scripts

import (
	"io"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/terminal"
	"plantstore/internal/must"
)

// TestNothingToShow checks that a command without any output says so to a person.
func TestNothingToShow(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Args: []string{"--ephemeral"}})
	for command, want := range map[string]string{"plants list": "no plants to show", "requests": "no requests to show yet"} {
		master, tty := terminal.Open(t)
		cmd := plantstore.Command(t, server.Dir, nil, strings.Fields(command)...)
		cmd.Stdout, cmd.Stderr = tty, tty
		must.Do(t, cmd.Run())
		_ = tty.Close()
		if shown, _ := io.ReadAll(master); strings.TrimSpace(string(shown)) != want { // EIO: the other side is closed
			t.Errorf("%s: %q, want %q", command, shown, want)
		}
		if got := plantstore.Run(t, server.Dir, strings.Fields(command)...); got != "" {
			t.Errorf("%s in a pipe: %q", command, got)
		}
	}
}
