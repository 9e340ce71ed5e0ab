package engines

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	compose "github.com/compose-spec/compose-go/v2/types"

	"plantstore/e2e/internal/tools"
)

// TestComposeSecrets creates the secrets as described at the top of the compose file. They must
// belong to the user of the container, and no other user may read them.
func TestComposeSecrets(t *testing.T) {
	t.Parallel()
	tools.RequireRoot(t, "give files away")
	clone, commands := t.TempDir(), "set -eu; umask 077\n"
	dir := filepath.Join(clone, "docs", "deploy")
	for _, directory := range []string{dir, filepath.Join(clone, "data")} {
		if err := os.MkdirAll(directory, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(string(tools.ProjectFile(t, "docs/deploy/compose.yaml"))) {
		if command, ok := strings.CutPrefix(line, "#   "); ok && !strings.HasPrefix(command, "docker ") {
			commands += strings.TrimPrefix(command, "sudo ")
		}
	}
	shell := exec.CommandContext(t.Context(), "/bin/sh", "-c", commands)
	shell.Dir = dir
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", commands, err, out)
	}
	project, err := loader.LoadWithContext(t.Context(), compose.ConfigDetails{
		WorkingDir:  dir,
		ConfigFiles: []compose.ConfigFile{{Filename: "compose.yaml", Content: tools.ProjectFile(t, "docs/deploy/compose.yaml")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, owner := range map[string]uint32{"jwt-secret": 65532, "storage-url": 65532, "postgres-password": 0} {
		file := project.Secrets[name].File
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid != owner || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, and belongs to %+v, want mode 0600 and user %d", file, info.Mode(), info.Sys(), owner)
		}
		if directory, err := os.Stat(filepath.Dir(file)); err != nil || directory.Mode().Perm() != 0o700 {
			t.Errorf("the directory of %s: %v, %v", file, directory.Mode(), err)
		}
	}
}
