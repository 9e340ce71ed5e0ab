package release

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// nfpm builds packages, in the version that goreleaser is tested with.
const nfpm = "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0"

// TestPackages builds the packages by nfpm, and installs, upgrades and removes them. goreleaser adds the
// binary, the version and the platform, and has another name for the dependencies of a package.
func TestPackages(t *testing.T) {
	t.Parallel()
	var release struct {
		Nfpms []map[string]any
	}
	if err := yaml.Unmarshal(tools.ProjectFile(t, ".goreleaser.yaml"), &release); err != nil || len(release.Nfpms) != 1 {
		t.Fatalf("%v, %d entries of nfpms", err, len(release.Nfpms))
	}
	output(t, "make", "--silent", "completions", "licences")
	c := release.Nfpms[0]
	for _, name := range []string{"ids", "formats", "file_name_template", "bindir", "mtime"} {
		delete(c, name)
	}
	c["name"], c["version"], c["arch"] = "plantstore", "v1.0.0", runtime.GOARCH
	c["contents"] = append(c["contents"].([]any), map[string]any{
		"src": build(t, tools.Project(t)), "dst": "/usr/bin/plantstore", "file_info": map[string]any{"mode": 0o755},
	})
	for _, override := range c["overrides"].(map[string]any) {
		o := override.(map[string]any)
		o["depends"] = o["dependencies"]
		delete(o, "dependencies")
	}
	config := filepath.Join(t.TempDir(), "nfpm.yaml")
	must.Do(t, os.WriteFile(config, must.Get(yaml.Marshal(c))(t), 0o600))
	for format, tt := range map[string]struct {
		check  func(t *testing.T, path string)
		script string // what it prints
	}{"deb": {checkDeb, debInstalls}, "rpm": {checkRPM, rpmInstalls}} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "plantstore."+format)
			output(t, "go", "run", nfpm, "package", "--config", config, "--packager", format, "--target", path)
			tt.check(t, path)
			checkInstall(t, path, format, tt.script)
			if format == "deb" {
				checkBoot(t, path)
			}
		})
	}
}

// documents is the directory of the documents in the packages, with the same paths as in a
// clone.
const documents = "/usr/share/doc/plantstore/"

// installed returns the files that the packages install, with their modes. The directory of
// the completions for zsh depends on the distribution.
func installed(t *testing.T, zsh string) map[string]string {
	t.Helper()
	const readable = "-rw-r--r--"
	all := map[string]string{
		"/etc/plantstore/.env":                                 "-rw-------",
		"/usr/bin/plantstore":                                  "-rwxr-xr-x",
		"/usr/lib/systemd/system/plantstore.service":           readable,
		"/usr/lib/systemd/system/plantstore-backup.service":    readable,
		"/usr/lib/systemd/system/plantstore-backup.timer":      readable,
		"/usr/share/bash-completion/completions/plantstore":    readable,
		"/usr/share/fish/vendor_completions.d/plantstore.fish": readable,
		"/usr/share/zsh/" + zsh + "/_plantstore":               readable,
		documents + "LICENSE":                                  "l---------",
	}
	for _, name := range []string{".env.example", "CHANGELOG.md", "CONTRIBUTING.md", "LICENCES", "README.md", "SECURITY.md", "copyright"} {
		all[documents+name] = readable
	}
	err := fs.WalkDir(os.DirFS(tools.Project(t)), "docs", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all[documents+path] = readable
		}
		return err
	})
	must.Do(t, err)
	return all
}

// output returns the output of a command in the project's directory.
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
		fields := regexp.MustCompile(`^(\S+) (\S+) .*? \./(.*?)(?: -> .*)?\n$`).FindStringSubmatch(line) // mode owner/group size date time name
		if !strings.HasSuffix(fields[3], "/") {
			got["/"+fields[3]] = fields[1]
		}
		if fields[2] != "root/root" {
			t.Errorf("%s belongs to %s", fields[3], fields[2])
		}
	}
	if diff := cmp.Diff(installed(t, "vendor-completions"), got); diff != "" {
		t.Errorf("files of the package (-want +got):\n%s", diff)
	}
	if got := output(t, dpkg, "--info", path, "conffiles"); got != "/etc/plantstore/.env\n" {
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
	if diff := cmp.Diff(installed(t, "site-functions"), got); diff != "" {
		t.Errorf("files of the package (-want +got):\n%s", diff)
	}
	if got := output(t, rpm, "-qp", "--configfiles", path); got != "/etc/plantstore/.env\n" {
		t.Errorf("configuration of the package: %q", got)
	}
	if got := output(t, rpm, "-qp", "--queryformat", "%{NAME} %{VERSION} %{LICENSE}", path); got != "plantstore 1.0.0 MIT" {
		t.Errorf("the package is %s", got)
	}
}

// TestUnits checks that the units restrict the program to the privileges that it needs, and that
// the manual is at the path that they name.
func TestUnits(t *testing.T) {
	t.Parallel()
	analyze := tools.Require(t, "systemd-analyze")
	for _, unit := range []string{"plantstore.service", "plantstore-backup.service", "plantstore-backup.timer"} {
		path := "docs/deploy/linux/" + unit
		if strings.HasSuffix(unit, ".service") {
			output(t, analyze, "security", "--offline=true", "--threshold=20", path) // an exposure level of 2.0
		}
		found := regexp.MustCompile(`(?m)^Documentation=file://(\S+)$`).FindSubmatch(tools.ProjectFile(t, path))
		if found == nil || installed(t, "")[string(found[1])] == "" {
			t.Errorf("%s names a document that is not installed: %q", unit, found)
		}
	}
}

// The output of the scripts of the packages when they are installed, upgraded and removed. The
// edited configuration stays until the package is purged, and the plants stay in any case.
const (
	debInstalls = `installed: 640 root:plantstore, /var/lib/plantstore:/usr/sbin/nologin
systemctl: daemon-reload,try-restart plantstore.service
plantstore
manual: a token with "iss":"https://issuer.example/a;b"
manual: 1
data: plantstore 600, jwt-secret plants.db
backups: 7 from plants-2020-01-03.db on, 1 plant
upgraded: ADDR=:80, 1 plants
systemctl: daemon-reload,daemon-reload,try-restart plantstore.service
upgraded: plantstore: the server did not start again: see journalctl --unit plantstore, installed
removed: no program, ADDR=:80, plantstore
systemctl: disable --now plantstore.service plantstore-backup.timer,daemon-reload
purged: no configuration, plantstore
systemctl: daemon-reload
`
	rpmInstalls = `installed: 640 root:plantstore, /var/lib/plantstore:/usr/sbin/nologin
systemctl: daemon-reload,try-restart plantstore.service
plantstore
upgraded: ADDR=:80
systemctl: daemon-reload,try-restart plantstore.service,daemon-reload
removed: no program, ADDR=:80, plantstore
systemctl: disable --now plantstore.service plantstore-backup.timer,daemon-reload
`
)

// checkInstall runs a script with the package, and the commands in the manual for an installed one,
// on a copy of this machine. The script must print want.
func checkInstall(t *testing.T, path, script, want string) {
	t.Helper()
	if script == "deb" {
		tools.Require(t, "dpkg")
	}
	unshare := tools.Require(t, "unshare")
	tools.RequireRoot(t, "mount a file system")
	found := regexp.MustCompile("(?ms)^```sh\n(cd /etc/plantstore && .*?)^```$").FindAllSubmatch(tools.ProjectFile(t, "docs/run.md"), -1)
	if len(found) != 1 {
		t.Fatalf("the manual has %d such blocks", len(found))
	}
	manual := filepath.Join(t.TempDir(), "manual")
	must.Do(t, os.WriteFile(manual, found[0][1], 0o600))
	const testdata = "e2e/release/testdata/"
	got := output(t, unshare, "--mount", "--propagation=private", "/bin/sh", testdata+"machine.sh",
		path, testdata+script+".sh", t.TempDir(), manual)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the output of %s.sh (-want +got):\n%s", script, diff)
	}
}

// checkBoot boots systemd with the package on a copy of this machine, and starts the server under its unit.
func checkBoot(t *testing.T, path string) {
	t.Helper()
	tools.Require(t, "systemctl")
	tools.Require(t, "ip")
	const testdata, want = "e2e/release/testdata/", `created: {"name":"Monstera","tag":"climber"}
restarted: {"error":409,"message":"id: 10 is taken; the stored plant is identical to this one"}
killed: {"error":409,"message":"id: 10 is taken; the stored plant is identical to this one"}
backup: 1 plants
logged: 1000
stopped: success
`
	got := output(t, tools.Require(t, "unshare"), "--mount", "--propagation=private", "--ipc", "--uts", "--net",
		"/bin/sh", testdata+"boot.sh", path, testdata+"booted.sh", t.TempDir())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the output of booted.sh (-want +got):\n%s", diff)
	}
}
