package operate

import (
	"strings"
	"syscall"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// TestAbort checks that systemd restarts a server that has crashed: with the environment of the unit
// it ends by a signal. By default it would exit with 2, after which the unit does not start it again.
func TestAbort(t *testing.T) {
	t.Parallel()
	var env []string
	for line := range strings.Lines(string(tools.ProjectFile(t, "docs/deploy/linux/plantstore.service"))) {
		if variable, found := strings.CutPrefix(strings.TrimSpace(line), "Environment="); found {
			env = append(env, variable)
		}
	}
	server := plantstore.Start(t, plantstore.Options{Dir: t.TempDir(), Env: env})
	must.Do(t, syscall.Kill(server.PID(), syscall.SIGABRT))
	if code := server.AwaitExit(); code != -1 { // by a signal
		t.Errorf("it has exited with %d, want that it ends by the signal", code)
	}
}
