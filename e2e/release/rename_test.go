package release

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// TestRename gives a clone another module path, several times, and publishes it in a repository that only git on this
// machine knows. Then go install, run elsewhere, must build the program from it, and all modules must be complete.
func TestRename(t *testing.T) {
	t.Parallel()
	const module = "github.com/Garden/plantstore"
	project := tools.Project(t)
	if _, err := os.Stat(filepath.Join(project, ".git")); err != nil {
		tools.NotChecked(t, "the project is not a clone")
	}
	clone := filepath.Join(t.TempDir(), "clone")
	process.Run(t, "git", "clone", "--quiet", "file://"+project, clone)
	in := func(dir, script string) string {
		t.Helper()
		return process.Run(t, "bash", "-euc", "cd "+filepath.Join(clone, dir)+"; "+script)
	}
	in(".", "make --silent rename MODULE="+module)
	renamed := in(".", "git diff")
	in(".", "go() { return 1; }; export -f go; ! .ci/rename github.com/Other/plantstore 2>&1") // fails halfway
	for _, next := range []string{"github.com/Other/plantstore", "gitlab.com/Other/group/plantstore", module} {
		in(".", "make --silent rename MODULE="+next)
	}
	if again := in(".", "git diff"); again != renamed {
		t.Errorf("renamed again, the clone differs; %d and %d bytes of changes:\n%s", len(renamed), len(again), again)
	}
	if left := in(".", `git grep -nE '"plantstore/|OWNER|pkg: plantstore|require=plantstore' -- ':!.ci' ':!e2e/release/rename_test.go' || true`); left != "" {
		t.Errorf("not renamed:\n%s", left)
	}
	if manual := must.Get(os.ReadFile(filepath.Join(clone, "docs/run.md")))(t); !strings.Contains(string(manual), "IMAGE=ghcr.io/garden/plantstore:1.0.0") {
		t.Error("docs/run.md does not name the image")
	}
	tags := must.Get(tools.Tags())(t)
	for _, dir := range []string{".", "cluster", "e2e", "cluster/e2e"} {
		in(dir, "go list -test -deps -tags "+tags+" ./... >/dev/null; go mod tidy -diff")
	}
	in(".", "git -c user.name=x -c user.email=x@localhost commit --quiet --all --message x; git tag v1.0.0")

	bin, cache := t.TempDir(), t.TempDir()
	process.Run(t, "env", "-C", bin, "GOBIN="+bin, "GOFLAGS=-modcacherw", "GOMODCACHE="+cache, "GONOSUMDB=*", "GOPRIVATE=", "GONOPROXY="+module,
		"GOPROXY=file://"+strings.TrimSpace(process.Run(t, "go", "env", "GOMODCACHE"))+"/cache/download",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://"+clone+".insteadOf", "GIT_CONFIG_VALUE_0=https://"+module,
		"go", "install", "-trimpath", "-tags", tags, module+"@v1.0.0")
	if version := process.Run(t, filepath.Join(bin, "plantstore"), "version"); !strings.HasPrefix(version, "plantstore v1.0.0 ") {
		t.Errorf("the program prints %q", version)
	}
}
