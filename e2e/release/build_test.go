package release

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// maxBinary is the maximum size of the binary in bytes. docs/dependencies.md lists its parts; a
// library that calls methods by their names makes it seven million bytes larger.
const maxBinary = 17_000_000

// build builds the program as it is released, from the directory dir, and returns its path.
func build(t *testing.T, dir string) []byte {
	t.Helper()
	tags := must.Get(tools.Tags())(t)
	binary := filepath.Join(t.TempDir(), "plantstore")
	command := exec.CommandContext(t.Context(), "go", "build", "-tags", tags, "-trimpath", "-ldflags", "-s -w", "-buildvcs=false", "-o", binary, ".")
	command.Dir = dir
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
	contents := must.Get(os.ReadFile(binary))(t)
	return contents
}

// TestBinary checks that builds of the same sources in two directories are the same, byte
// for byte, and not too large.
func TestBinary(t *testing.T) {
	t.Parallel()
	here := tools.Project(t)
	elsewhere := filepath.Join(t.TempDir(), "a", "copy")
	copySources(t, here, elsewhere)
	first, second := build(t, here), build(t, elsewhere)
	if !bytes.Equal(first, second) {
		t.Error("two builds of the same sources differ")
	}
	if len(first) > maxBinary {
		t.Errorf("the binary has %d bytes, want at most %d", len(first), maxBinary)
	}
	if bytes.Contains(first, []byte(here)) {
		t.Errorf("the binary names the directory in which it was built, %s", here)
	}
}

// copySources copies the sources of the program.
func copySources(t *testing.T, from, to string) {
	t.Helper()
	for _, name := range []string{".ci", "internal", "middleware", "models", "routes", "storage"} {
		must.Do(t, os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(from, name))))
	}
	for _, name := range []string{"main.go", "go.mod", "go.sum"} {
		contents, err := fs.ReadFile(os.DirFS(from), name)
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), contents, 0o600)
		}
		must.Do(t, err)
	}
}

// TestSameFlagsEverywhere checks that the release, make build and the image have the same
// flags.
func TestSameFlagsEverywhere(t *testing.T) {
	t.Parallel()
	var release struct {
		Builds []struct {
			Dir                                string
			Env, Targets, Flags, Ldflags, Tags []string
		}
	}
	if err := yaml.Unmarshal(tools.ProjectFile(t, ".goreleaser.yaml"), &release); err != nil || len(release.Builds) != 2 {
		t.Fatalf("%v, %d entries of builds", err, len(release.Builds))
	}
	b, cluster := release.Builds[0], release.Builds[1]
	cluster.Dir = ""
	if diff := cmp.Diff(b, cluster); diff != "" {
		t.Errorf("the builds differ by more than their module (-plantstore +plantstore-cluster):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`{{ readFile ".ci/tags" }}`}, b.Tags); diff != "" {
		t.Errorf("tags of the release (-want +got):\n%s", diff)
	}
	flags := strings.Join(slices.Concat(b.Flags, []string{"-ldflags", "'" + strings.Join(b.Ldflags, " ") + "'"}), " ")
	for _, module := range []string{"", "-C cluster "} {
		if want := strings.Join(b.Env, " ") + " go build " + module + "-tags $(tags) " + flags; !bytes.Contains(tools.ProjectFile(t, "Makefile"), []byte(want)) {
			t.Errorf("make does not run %s", want)
		}
	}
	if want := `go build -C $MODULE -tags "$(cat .ci/tags)" ` + strings.ReplaceAll(flags, "'", `"`); !bytes.Contains(tools.ProjectFile(t, "Dockerfile"), []byte(want)) {
		t.Errorf("the Dockerfile does not run %s", want)
	}
	want := []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64", "windows_amd64", "windows_arm64"}
	if diff := cmp.Diff(want, b.Targets); diff != "" {
		t.Errorf("targets of the release (-want +got):\n%s", diff)
	}
}
