// Package clients tests common clients of the service, as shown in docs/clients.md.
package clients

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// patience bounds every wait; it is far above the usual duration.
const patience = 5 * time.Minute

func TestMain(m *testing.M) {
	os.Exit(plantstore.Main(m))
}

// A fixture is a directory in which the npm packages are available, with a server.
type fixture struct {
	t      *testing.T
	dir    string
	server *plantstore.Server
	token  string
}

// newFixture starts a server with arguments.
func newFixture(t *testing.T, args ...string) *fixture {
	t.Helper()
	server := plantstore.Start(t, plantstore.Options{Args: args})
	w := &fixture{t: t, dir: t.TempDir(), server: server, token: server.Token()}
	must.Do(t, os.Symlink(filepath.Join(tools.Project(t), "e2e", "node", "node_modules"), filepath.Join(w.dir, "node_modules")))
	return w
}

func (w *fixture) write(name, text string) {
	w.t.Helper()
	must.Do(w.t, os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600))
}

// run runs a program in the directory and returns its stdout.
func (w *fixture) run(name string, args ...string) string {
	w.t.Helper()
	out := must.Get(w.try(name, args...))(w.t)
	return out
}

// try is run for a program that may fail; the error contains its output.
func (w *fixture) try(name string, args ...string) (string, error) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, tools.Require(w.t, name), args...)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "PLANTS_URL="+w.server.BaseURL, "TOKEN="+w.token)
	out, err := cmd.Output()
	if err != nil {
		stderr := ""
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			stderr = string(exit.Stderr)
		}
		err = fmt.Errorf("%s %q: %w\n%s%s", name, args, err, out, stderr)
	}
	return string(out), err
}
