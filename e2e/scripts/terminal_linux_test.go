package scripts

import (
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/terminal"
)

// TestNothingToShow checks that a command without any output says so to a person.
func TestNothingToShow(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Args: []string{"--ephemeral"}})
	for command, want := range map[string]string{"plants list": "no plants to show", "requests": "no requests to show yet"} {
		cmd := plantstore.Command(t, server.Dir, nil, strings.Fields(command)...)
		if shown := terminal.Output(t, cmd); strings.TrimSpace(shown) != want || !cmd.ProcessState.Success() {
			t.Errorf("%s: %v, %q, want %q", command, cmd.ProcessState, shown, want)
		}
		if got := plantstore.Run(t, server.Dir, strings.Fields(command)...); got != "" {
			t.Errorf("%s in a pipe: %q", command, got)
		}
	}
}
