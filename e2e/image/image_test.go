// Package image builds the container image and runs it.
package image

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

const image = "localhost/plantstore"

func TestImage(t *testing.T) {
	t.Parallel()
	s := newStorage(t)
	buildImage(t, s, image, ".")
	for name, check := range map[string]func(*testing.T, *storage){
		"has a configuration":        checkConfig,
		"holds only needed files":    checkFiles,
		"is small":                   checkSize,
		"runs by its own defaults":   checkDefaults,
		"keeps plants in its volume": checkVolume,
		"names the owner of a mount": checkMount,
		"listens on PORT":            checkPort,
		"starts by Testcontainers":   checkTestcontainers,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, s)
		})
	}
}

// TestClusterImage checks that the image of plantstore-cluster has that program.
func TestClusterImage(t *testing.T) {
	t.Parallel()
	s := newStorage(t)
	buildImage(t, s, "localhost/plantstore-cluster", "cluster")
	s.do(t, "create", "--name=files", "localhost/plantstore-cluster")
	dir := t.TempDir()
	s.do(t, "cp", "files:/plantstore", dir)
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "plantstore"), "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "plantstore-cluster ") {
		t.Errorf("version: %q, %v", out, err)
	}
}

// buildImage builds the image of the program in a module without a registry or a network: the
// build stage starts from an almost empty image and uses the Go toolchain of this machine, its
// shell and its modules. docs/run.md shows the same commands.
func buildImage(t *testing.T, s *storage, name, module string) {
	t.Helper()
	project := tools.Project(t)
	download := exec.CommandContext(t.Context(), "go", "mod", "download")
	download.Dir = filepath.Join(project, module)
	if out, err := download.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", download, err, out)
	}
	goroot := goEnv(t, "GOROOT")
	s.build(t, "localhost/go", goBase(t, goroot))
	s.build(t, name, project,
		"--build-arg=MODULE="+module,
		"--build-arg=GO_IMAGE=localhost/go",
		"--build-arg=GOPROXY=off",
		"--build-arg=GOFLAGS=-buildvcs=false", // this may not be a clone
		"--volume=/usr:/usr:ro",
		"--volume="+goroot+":"+goroot+":ro",
		"--volume="+goEnv(t, "GOMODCACHE")+":/go/pkg/mod",
		"--volume="+goEnv(t, "GOCACHE")+":/go/cache",
	)
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	if err != nil {
		t.Fatalf("go env %s: %v", name, err)
	}
	return strings.TrimSpace(string(out))
}

// goBase returns a directory with the contents of the substitute for the Go image: links to the
// directories in /usr.
func goBase(t *testing.T, goroot string) string {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(dir, "rootfs", "tmp"), 0o750))
	for _, name := range []string{"bin", "lib", "lib64"} {
		must.Do(t, os.Symlink("usr/"+name, filepath.Join(dir, "rootfs", name)))
	}
	dockerfile := "FROM scratch\nCOPY rootfs /\nENV PATH=" + goroot + "/bin:/usr/bin GOPATH=/go GOCACHE=/go/cache\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(dockerfile), 0o600))
	return dir
}

// A config has the tested parts of the configuration of an image.
type config struct {
	User         string
	Env          []string
	Entrypoint   []string
	Cmd          []string
	Volumes      map[string]struct{}
	ExposedPorts map[string]struct{}
}

func checkConfig(t *testing.T, s *storage) {
	want := config{
		User:         "65532:65532",
		Env:          []string{"PORT=8080", "ADMIN_ADDR=:8081", "STORAGE_URL=bbolt:/data/plants.db"},
		Entrypoint:   []string{"/plantstore"},
		Cmd:          []string{"serve"},
		Volumes:      map[string]struct{}{"/data": {}},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}},
	}
	var got config
	must.Do(t, json.Unmarshal([]byte(s.do(t, "image", "inspect", "--format={{json .Config}}", image)), &got))
	// A builder may add a PATH.
	got.Env = slices.DeleteFunc(got.Env, func(v string) bool { return strings.HasPrefix(v, "PATH=") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration of the image (-want +got):\n%s", diff)
	}
	if got := s.do(t, "image", "inspect", "--format={{.HealthCheck.Test}}", image); got != "[CMD /plantstore health]" {
		t.Errorf("health check of the image: %s", got)
	}
}

// checkFiles checks that the image has the binary and the data directory, and nothing else, such
// as a secret of the builder.
func checkFiles(t *testing.T, s *storage) {
	s.do(t, "create", "--name=files", image)
	archive := tar.NewReader(strings.NewReader(s.do(t, "export", "files")))
	got := make(map[string]string)
	for {
		file, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		must.Do(t, err)
		got[file.Name] = fmt.Sprintf("%v %d:%d", file.FileInfo().Mode(), file.Uid, file.Gid)
	}
	want := map[string]string{
		"plantstore": "-rwxr-xr-x 0:0",
		"LICENCES":   "-rw-r--r-- 0:0",
		"data/":      "drwxr-xr-x 65532:65532",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files of the image (-want +got):\n%s", diff)
	}
}

// maxPull is the maximum number of bytes to download when the image is pulled: its layers,
// compressed as in a registry.
const maxPull = 10_000_000

func checkSize(t *testing.T, s *storage) {
	dir := t.TempDir()
	s.do(t, "push", "--compress", image, "dir:"+dir)
	size := int64(0)
	files := must.Get(os.ReadDir(dir))(t)
	for _, file := range files {
		info := must.Get(file.Info())(t)
		size += info.Size()
	}
	t.Logf("a pull downloads %d bytes", size)
	if size > maxPull || size < 1_000_000 {
		t.Errorf("a pull downloads %d bytes, want at most %d, and more than 0", size, maxPull)
	}
}
