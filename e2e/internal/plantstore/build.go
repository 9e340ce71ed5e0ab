// Package plantstore runs the real binary for the end-to-end tests.
package plantstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// binary is the path of the program under test. Main sets it once, before the first test
// starts.
var binary string //nolint:gochecknoglobals // TestMain has no other way to hand it to the tests

// Main builds the program plantstore, runs the tests with it and returns their exit code.
// TestMain of each package that starts servers calls it.
func Main(m *testing.M) int { return MainOf(m, ".") }

// MainOf is [Main] for the program in another module of the project, such as cluster.
func MainOf(m *testing.M, module string) int {
	dir, err := os.MkdirTemp("", "plantstore-e2e-")
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }()
		binary = filepath.Join(dir, "plantstore"+suffix)
		err = buildOnce(module, binary)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// buildOnce is build for all packages that test the same program, and run at the same time: the
// toolchain links it into bin/e2e if the one there is out of date. path becomes a copy of it.
func buildOnce(module, path string) error {
	project, err := tools.ProjectDir()
	if err != nil {
		return err
	}
	shared := filepath.Join(project, "bin", "e2e", module, "plantstore")
	if err := os.MkdirAll(filepath.Dir(shared), 0o755); err != nil {
		return err
	}
	unlock, err := lockedfile.MutexAt(shared + ".lock").Lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := build(module, shared); err != nil {
		return err
	}
	program, err := os.ReadFile(shared)
	if err != nil {
		return err
	}
	return os.WriteFile(path, program, 0o755)
}

// Build builds the program plantstore as it is released into the file path. args are further
// arguments of go build; GOFLAGS may add some, such as -race or -cover.
func Build(path string, args ...string) error { return build(".", path, args...) }

func build(module, path string, args ...string) error {
	project, err1 := tools.ProjectDir()
	tags, err2 := tools.Tags()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	args = slices.Concat([]string{"build", "-tags", tags, "-trimpath", "-ldflags", "-s -w", "-o", path}, args, []string{"."})
	build := exec.CommandContext(context.Background(), "go", args...)
	build.Dir = filepath.Join(project, module)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", build.Args, err, out)
	}
	return nil
}

// Command returns a run of the program with args in the directory dir. Its environment is
// env and the variables of this process that cannot be options of the program. Its admin
// listener uses a free port, unless env overrides it.
func Command(t testing.TB, dir string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	if binary == "" {
		t.Fatal("the program is not built: TestMain must call plantstore.Main")
	}
	return command(binary, dir, env, args...)
}

func command(path, dir string, env []string, args ...string) *exec.Cmd {
	// Not the context of the test, which is canceled before a server can be stopped.
	cmd := exec.CommandContext(context.Background(), path, args...)
	cmd.Dir = dir
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "TMP", "PATHEXT", "GOCOVERDIR", "GORACE"} {
		if value, set := os.LookupEnv(name); set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Env = append(append(cmd.Env, "ADMIN_ADDR=127.0.0.1:0"), env...)
	return cmd
}

// Run runs a command of the program in the directory dir, which must succeed, and returns its output.
func Run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := Command(t, dir, nil, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("plantstore %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// Finish runs a command to its end, and returns its exit code and its output on stdout and stderr.
// A command that hangs fails the test, with the stacks of its goroutines.
func Finish(t testing.TB, cmd *exec.Cmd) (code int, output string) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	must.Do(t, cmd.Start())
	hung := time.AfterFunc(Patience, func() { quit(cmd.Process) })
	_ = cmd.Wait() // its exit code is returned
	if !hung.Stop() {
		t.Errorf("%q still ran after %v:\n%s", cmd.Args, Patience, &out)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}
