// Package image builds the container image and runs it.
package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// The images of the tests: of both programs, and of the Go toolchain.
const (
	image        = "localhost/plantstore"
	clusterImage = "localhost/plantstore-cluster"
	goImage      = "localhost/go"
)

func TestImage(t *testing.T) {
	t.Parallel()
	s := newStorage(t)
	s.buildGo(t)
	s.buildModule(t, image, ".")
	for name, check := range map[string]func(*testing.T, *storage){
		"holds only needed files":    checkFiles,
		"is small":                   checkSize,
		"is that of the cluster":     checkCluster,
		"runs by its own defaults":   checkDefaults,
		"keeps plants in its volume": checkVolume,
		"accepts an issuer by HTTPS": checkIssuer,
		"names the owner of a mount": checkMount,
		"runs as in the manual":      checkManual,
		"starts by Testcontainers":   checkTestcontainers,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, s)
		})
	}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	return must.Get(run(exec.CommandContext(t.Context(), "go", "env", name)))(t)
}

// buildGo builds the substitute for the Go image, which is almost empty: it uses the Go toolchain of this
// machine, its shell and its modules, by links to the directories in /usr. Its one certificate authority is that of
// the tests.
func (s *storage) buildGo(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(dir, "rootfs", "tmp"), 0o750))
	certs := filepath.Join(dir, "rootfs", "etc", "ssl", "certs")
	must.Do(t, os.MkdirAll(certs, 0o755))
	must.Do(t, os.WriteFile(filepath.Join(certs, "ca-certificates.crt"), must.Get(os.ReadFile(s.authority.File))(t), 0o644))
	for _, name := range []string{"bin", "lib", "lib64"} {
		must.Do(t, os.Symlink("usr/"+name, filepath.Join(dir, "rootfs", name)))
	}
	dockerfile := "FROM scratch\nCOPY rootfs /\nENV PATH=" + goEnv(t, "GOROOT") + "/bin:/usr/bin GOPATH=/go GOCACHE=/go/cache\n"
	must.Do(t, os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte(dockerfile), 0o600))
	s.build(t, goImage, dir)
}

// buildModule builds the image of the program in a module without a registry or a network. docs/run.md
// shows the same commands.
func (s *storage) buildModule(t *testing.T, name, module string) {
	t.Helper()
	project, goroot := tools.Project(t), goEnv(t, "GOROOT")
	must.Get(run(exec.CommandContext(t.Context(), "go", "-C", filepath.Join(project, module), "mod", "download")))(t)
	s.build(t, name, project,
		"--build-arg=MODULE="+module,
		"--build-arg=GO_IMAGE="+goImage,
		"--build-arg=GOPROXY=off",
		"--build-arg=GOFLAGS=-buildvcs=false", // this may not be a clone
		"--volume=/usr:/usr:ro",
		"--volume="+goroot+":"+goroot+":ro",
		"--volume="+goEnv(t, "GOMODCACHE")+":/go/pkg/mod",
		"--volume="+goEnv(t, "GOCACHE")+":/go/cache",
	)
}

// checkFiles checks that the image has the binary, the certificates and the data directory, and nothing else, such
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
		"plantstore":                        "-rwxr-xr-x 0:0",
		"LICENCES":                          "-rw-r--r-- 0:0",
		"etc/":                              "drwxr-xr-x 0:0",
		"etc/ssl/":                          "drwxr-xr-x 0:0",
		"etc/ssl/certs/":                    "drwxr-xr-x 0:0",
		"etc/ssl/certs/ca-certificates.crt": "-rw-r--r-- 0:0",
		"data/":                             "drwxr-xr-x 65532:65532",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files of the image (-want +got):\n%s", diff)
	}
}

// checkCluster checks that the image of plantstore-cluster has that program.
func checkCluster(t *testing.T, s *storage) {
	s.buildModule(t, clusterImage, "cluster")
	dir := t.TempDir()
	s.do(t, "create", "--name=cluster", clusterImage)
	s.do(t, "cp", "cluster:/plantstore", dir)
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "plantstore"), "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "plantstore-cluster ") {
		t.Errorf("version: %q, %v", out, err)
	}
}

// checkSize checks how many bytes a pull of the image downloads: its layers, compressed as in a registry.
func checkSize(t *testing.T, s *storage) {
	const least, most = 1_000_000, 10_000_000
	dir := t.TempDir()
	s.do(t, "push", "--compress", image, "dir:"+dir)
	size := int64(0)
	for _, file := range must.Get(os.ReadDir(dir))(t) {
		size += must.Get(file.Info())(t).Size()
	}
	if size < least || size > most {
		t.Errorf("a pull downloads %d bytes, want %d to %d", size, least, most)
	}
}
