package image

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/certtest"
	"plantstore/internal/must"
)

// A storage is a directory with its own images and containers, which are removed after the test.
type storage struct {
	dir string
	// authority is the only certificate authority of the Go image.
	authority *certtest.Authority
}

func newStorage(t *testing.T) *storage {
	t.Helper()
	for _, program := range []string{"runc", "buildah", "podman"} {
		tools.Require(t, program)
	}
	s := &storage{t.TempDir(), certtest.New(t)}
	t.Cleanup(func() {
		// The context of the test is already canceled.
		if _, err := run(s.podman(context.Background(), "rm", "--all", "--force", "--time=0", "--volumes")); err != nil {
			t.Error(err)
		}
	})
	return s
}

// path returns the path of a file in the storage.
func (s *storage) path(name string) string { return filepath.Join(s.dir, name) }

// command returns a command that keeps all files inside the storage. The vfs driver needs no support from
// the kernel.
func (s *storage) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	places := []string{"--root=" + s.path("root"), "--runroot=" + s.path("run"), "--storage-driver=vfs"}
	cmd := exec.CommandContext(ctx, program, slices.Concat(places, args)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+s.path(""))
	return cmd
}

// podman returns a podman command that needs neither systemd nor a journal, and uses runc, which supports
// more kinds of cgroups than crun.
func (s *storage) podman(ctx context.Context, args ...string) *exec.Cmd {
	return s.command(ctx, "podman", append([]string{"--runtime=runc", "--cgroup-manager=cgroupfs", "--events-backend=none"}, args...)...)
}

// run returns the standard output of a command without the last line end. Its error contains the
// complete output of the command.
func run(cmd *exec.Cmd) (string, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%v: %w\n%s%s", cmd.Args, err, out, &stderr)
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// do returns the standard output of a podman command, which must succeed.
func (s *storage) do(t *testing.T, args ...string) string {
	t.Helper()
	return must.Get(run(s.podman(t.Context(), args...)))(t)
}

// build builds an image from the directory dir.
func (s *storage) build(t *testing.T, name, dir string, args ...string) {
	t.Helper()
	how := []string{"build", "--isolation=chroot", "--format=docker", "--network=host", "--tag=" + name}
	must.Get(run(s.command(t.Context(), "buildah", slices.Concat(how, args, []string{dir})...)))(t)
}

// start starts a container with only the privileges that the image needs: a read-only root and
// no capability. It returns when the health check of the image passes.
func (s *storage) start(t *testing.T, name string, args ...string) {
	t.Helper()
	s.do(t, append([]string{
		"run", "--detach", "--name=" + name,
		"--read-only", "--read-only-tmpfs=false", "--cap-drop=all", "--security-opt=no-new-privileges",
		// Limits that may be set without privileges, and no systemd timer.
		"--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024", "--log-driver=k8s-file", "--health-interval=disable",
	}, append(args, image)...)...)
	s.await(t, name)
}

// await polls the health check of a container until it passes.
func (s *storage) await(t *testing.T, name string) {
	t.Helper()
	plantstore.Await(t, name+" is healthy", func() bool {
		_, err := run(s.podman(t.Context(), "healthcheck", "run", name))
		if state := s.do(t, "inspect", "--format={{.State.Status}}", name); err != nil && state != "running" {
			logs, _ := s.podman(t.Context(), "logs", name).CombinedOutput()
			t.Fatalf("the container is %s: %v\n%s", state, err, logs)
		}
		return err == nil
	})
}

// stop stops a container as an operator does, and checks its exit code.
func (s *storage) stop(t *testing.T, name string) {
	t.Helper()
	s.do(t, "stop", "--time=60", name)
	if code := s.do(t, "inspect", "--format={{.State.ExitCode}}", name); code != "0" {
		t.Errorf("after SIGTERM %s ended with exit code %s, want 0", name, code)
	}
}
