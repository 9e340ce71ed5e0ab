package release

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"plantstore/e2e/internal/tools"
)

// nfpm makes packages, in the version with which goreleaser is tried.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0"

func TestPackages(t *testing.T) {
	t.Parallel()
	config := nfpmConfig(t)
	t.Run("deb", func(t *testing.T) {
		t.Parallel()
		path := makePackage(t, config, "deb")
		checkDeb(t, path)
		t.Run("installs", func(t *testing.T) {
			t.Parallel()
			checkInstall(t, path)
		})
	})
	t.Run("rpm", func(t *testing.T) {
		t.Parallel()
		checkRPM(t, makePackage(t, config, "rpm"))
	})
}

// installed is what the packages install, and who may do what with it.
var installed = map[string]string{ //nolint:gochecknoglobals // a constant, but for the language
	"/etc/plantstore/plantstore.env":                       "-rw-------",
	"/usr/bin/plantstore":                                  "-rwxr-xr-x",
	"/usr/lib/systemd/system/plantstore.service":           "-rw-r--r--",
	"/usr/share/bash-completion/completions/plantstore":    "-rw-r--r--",
	"/usr/share/doc/plantstore/CHANGELOG.md":               "-rw-r--r--",
	"/usr/share/doc/plantstore/LICENCES":                   "-rw-r--r--",
	"/usr/share/doc/plantstore/README.md":                  "-rw-r--r--",
	"/usr/share/doc/plantstore/copyright":                  "-rw-r--r--",
	"/usr/share/doc/plantstore/operations.md":              "-rw-r--r--",
	"/usr/share/fish/vendor_completions.d/plantstore.fish": "-rw-r--r--",
}

// withZsh is installed with the place where zsh of a distribution looks.
func withZsh(folder string) map[string]string {
	all := maps.Clone(installed)
	all["/usr/share/zsh/"+folder+"/_plantstore"] = "-rw-r--r--"
	return all
}

// nfpmConfig writes the part of .goreleaser.yaml that is about packages as nfpm
// itself takes it, and returns the path. goreleaser adds the binary, the version
// and the platform, and has another name for what a package depends on.
func nfpmConfig(t *testing.T) string {
	t.Helper()
	var release struct {
		Nfpms []map[string]any
	}
	if err := yaml.Unmarshal(tools.ProjectFile(t, ".goreleaser.yaml"), &release); err != nil || len(release.Nfpms) != 1 {
		t.Fatalf("%v, %d nfpms", err, len(release.Nfpms))
	}
	made := exec.CommandContext(t.Context(), "make", "--silent", "completions", "licences")
	made.Dir = tools.Project(t)
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", made, err, out)
	}
	binary := filepath.Join(t.TempDir(), "plantstore")
	if err := os.WriteFile(binary, build(t, tools.Project(t)), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}

	c := release.Nfpms[0]
	for _, name := range []string{"formats", "file_name_template", "bindir", "mtime"} {
		delete(c, name)
	}
	c["name"], c["version"], c["arch"] = "plantstore", "v1.0.0", runtime.GOARCH
	c["contents"] = append(c["contents"].([]any), map[string]any{ //nolint:forcetypeassert // a panic fails the test as well
		"src": binary, "dst": "/usr/bin/plantstore", "file_info": map[string]any{"mode": 0o755},
	})
	for _, override := range c["overrides"].(map[string]any) { //nolint:forcetypeassert // likewise
		o := override.(map[string]any) //nolint:forcetypeassert // likewise
		o["depends"] = o["dependencies"]
		delete(o, "dependencies")
	}
	encoded, err := yaml.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "nfpm.yaml")
	if err := os.WriteFile(path, encoded, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// makePackage makes a package in a folder of its own, and returns its path.
func makePackage(t *testing.T, config, format string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plantstore."+format)
	output(t, "go", "run", nfpm, "package", "--config", config, "--packager", format, "--target", path)
	return path
}

// output returns what a command run in the folder of the project prints.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = tools.Project(t)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s%s", command, err, out, stderr.String())
	}
	return string(out)
}

func checkDeb(t *testing.T, path string) {
	t.Helper()
	dpkg := tools.Require(t, "dpkg-deb")
	got := make(map[string]string)
	for line := range strings.Lines(output(t, dpkg, "--contents", path)) {
		fields := strings.Fields(line) // mode owner/group size date time name
		if !strings.HasSuffix(fields[5], "/") {
			got[strings.TrimPrefix(fields[5], ".")] = fields[0]
		}
		if fields[1] != "root/root" {
			t.Errorf("%s belongs to %s", fields[5], fields[1])
		}
	}
	if diff := cmp.Diff(withZsh("vendor-completions"), got); diff != "" {
		t.Errorf("files of the package (-want +got):\n%s", diff)
	}
	if got := output(t, dpkg, "--info", path, "conffiles"); got != "/etc/plantstore/plantstore.env\n" {
		t.Errorf("configuration of the package: %q", got)
	}
	if got := output(t, dpkg, "--field", path, "Package", "Version", "Architecture", "Depends"); got !=
		"Package: plantstore\nVersion: 1.0.0\nArchitecture: "+runtime.GOARCH+"\nDepends: passwd\n" {
		t.Errorf("fields of the package:\n%s", got)
	}
}

func checkRPM(t *testing.T, path string) {
	t.Helper()
	rpm := tools.Require(t, "rpm")
	got := make(map[string]string)
	for line := range strings.Lines(output(t, rpm, "-qp", "--queryformat", "[%{FILEMODES:perms} %{FILENAMES}\n]", path)) {
		mode, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		got[name] = mode
	}
	if diff := cmp.Diff(withZsh("site-functions"), got); diff != "" {
		t.Errorf("files of the package (-want +got):\n%s", diff)
	}
	if got := output(t, rpm, "-qp", "--configfiles", path); got != "/etc/plantstore/plantstore.env\n" {
		t.Errorf("configuration of the package: %q", got)
	}
	if got := output(t, rpm, "-qp", "--queryformat", "%{NAME} %{VERSION} %{LICENSE}", path); got != "plantstore 1.0.0 MIT" {
		t.Errorf("the package is %s", got)
	}
	scripts := output(t, rpm, "-qp", "--scripts", path)
	for _, name := range []string{"postinstall", "preuninstall", "postuninstall"} {
		if !strings.Contains(scripts, name+" scriptlet") {
			t.Errorf("the package has no script %s:\n%s", name, scripts)
		}
	}
}

// The unit keeps the server from whatever it does not need.
func TestUnitIsHardened(t *testing.T) {
	t.Parallel()
	analyze := tools.Require(t, "systemd-analyze")
	const unit = "docs/deploy/linux/plantstore.service"
	output(t, analyze, "security", "--offline=true", "--threshold=20", unit) // a level of 2.0
}

// checkInstall installs, upgrades and removes the package. The configuration stays
// as it was edited until the package is purged, and the plants stay for ever.
func checkInstall(t *testing.T, path string) {
	t.Helper()
	tools.Require(t, "dpkg")
	unshare := tools.Require(t, "unshare")
	tools.RequireRoot(t, "mount a file system")
	got := output(t, unshare, "--mount", "--propagation=private", "/bin/sh", "e2e/release/testdata/install.sh", path, t.TempDir())
	want := `installed: 600 root:root, /var/lib/plantstore:/usr/sbin/nologin
plantstore
plants: 1
upgraded: ADDR=:80, 1 plants
removed: no program, ADDR=:80, plantstore
purged: no configuration, plantstore
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what install.sh says (-want +got):\n%s", diff)
	}
}
