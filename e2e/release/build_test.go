// Package release checks the parts of a release: the binary, and the packages for Linux
// with the files that they install.
package release

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// maxBinary is the maximum size of the binary in bytes. docs/dependencies.md lists its parts; a
// library that calls methods by their names makes it seven million bytes larger.
const maxBinary = 17_000_000

// build builds the program as it is released, from the directory dir, and returns its path.
func build(t *testing.T, dir string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "plantstore")
	tags := must.Get(tools.Tags())(t)
	process.Run(t, "env", "CGO_ENABLED=0", "GOFLAGS=",
		"go", "-C", dir, "build", "-tags", tags, "-trimpath", "-ldflags", "-s -w", "-buildvcs=false", "-o", binary, ".")
	return binary
}

// TestBinary checks that builds of the same sources in two directories are the same, byte
// for byte, and not too large.
func TestBinary(t *testing.T) {
	t.Parallel()
	here := tools.Project(t)
	elsewhere := filepath.Join(t.TempDir(), "a", "copy")
	for _, name := range []string{".ci", "internal", "middleware", "models", "routes", "storage"} {
		must.Do(t, os.CopyFS(filepath.Join(elsewhere, name), os.DirFS(filepath.Join(here, name))))
	}
	for _, name := range []string{"main.go", "go.mod", "go.sum"} {
		must.Do(t, os.WriteFile(filepath.Join(elsewhere, name), tools.ProjectFile(t, name), 0o600))
	}
	first := must.Get(os.ReadFile(build(t, here)))(t)
	second := must.Get(os.ReadFile(build(t, elsewhere)))(t)
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
	want := []string{"linux_amd64", "linux_arm64", "linux_arm_6", "darwin_amd64", "darwin_arm64", "windows_amd64", "windows_arm64"}
	if diff := cmp.Diff(want, b.Targets); diff != "" {
		t.Errorf("targets of the release (-want +got):\n%s", diff)
	}
}
