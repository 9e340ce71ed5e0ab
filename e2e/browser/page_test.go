package browser

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// TestPageFunctions runs page.test.js: what the page sends and shows, without a browser.
func TestPageFunctions(t *testing.T) {
	node, dir := tools.Require(t, "node"), t.TempDir()
	for name, path := range map[string]string{
		"page.js": filepath.Join(tools.Project(t), "internal", "operate", "page", "page.js"), "page.test.js": "page.test.js",
	} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), must.Get(os.ReadFile(path))(t), 0o600))
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`), 0o600))
	cmd := exec.CommandContext(t.Context(), node, "--test", "page.test.js")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("node --test: %v\n%s", err, out)
	}
}
