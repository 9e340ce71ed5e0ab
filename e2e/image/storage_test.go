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

	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// A storage has its own images and containers, which are removed after the test.
type storage struct {
	dir             string
	buildah, podman string
}

func newStorage(t *testing.T) *storage {
	t.Helper()
	tools.Require(t, "runc")
	s := &storage{dir: t.TempDir(), buildah: tools.Require(t, "buildah"), podman: tools.Require(t, "podman")}
	t.Cleanup(func() {
		// The context of the test is already canceled.
		if _, err := s.podmanRun(context.Background(), "rm", "--all", "--force", "--time=0", "--volumes"); err != nil {
			t.Error(err)
		}
	})
	return s
}

// places are the arguments that keep all files inside the storage. The vfs driver needs no
// support from the kernel.
func (s *storage) places() []string {
	return []string{
		"--root=" + filepath.Join(s.dir, "root"), "--runroot=" + filepath.Join(s.dir, "run"), "--storage-driver=vfs",
	}
}

// build builds an image from the directory dir.
func (s *storage) build(t *testing.T, name, dir string, args ...string) {
	t.Helper()
	command := slices.Concat([]string{s.buildah}, s.places(),
		[]string{"build", "--isolation=chroot", "--format=docker", "--network=host", "--tag=" + name}, args, []string{dir})
	must.Get(s.run(t.Context(), command))(t)
}

// do returns the standard output of a podman command, which must succeed.
func (s *storage) do(t *testing.T, args ...string) string {
	t.Helper()
	out := must.Get(s.podmanRun(t.Context(), args...))(t)
	return out
}

// podmanRun returns the standard output of a podman command.
func (s *storage) podmanRun(ctx context.Context, args ...string) (string, error) {
	return s.run(ctx, s.podmanCommand(args...))
}

// podmanCommand returns a podman command line that needs neither systemd nor a journal,
// and uses runc, which supports more kinds of cgroups than crun.
func (s *storage) podmanCommand(args ...string) []string {
	return slices.Concat([]string{s.podman}, s.places(),
		[]string{"--runtime=runc", "--cgroup-manager=cgroupfs", "--events-backend=none"}, args)
}

// run returns the standard output of a command without the last line end. Its error contains the
// complete output of the command.
func (s *storage) run(ctx context.Context, command []string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "TMPDIR="+s.dir)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s%s", command, err, stdout.Bytes(), stderr.Bytes())
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}
