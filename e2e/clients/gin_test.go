package clients

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// TestGin checks that the server in docs/gin passes the cases that a handler decides, and does not start
// with a secret of less than 32 bytes.
func TestGin(t *testing.T) {
	t.Parallel()
	dir, address := t.TempDir(), process.Port(process.Address(), 8090)
	secret := "JWT_SECRET=a secret of the tests, long enough for HS256"
	binary := filepath.Join(dir, "server")
	process.Run(t, "go", "-C", tools.Project(t), "build", "-tags", "nomsgpack", "-o", binary, "./docs/gin")
	weak := exec.CommandContext(t.Context(), binary)
	weak.Env = []string{"JWT_SECRET=" + strings.Repeat("x", 31), "ADDR=256.0.0.0:0"}
	if out, _ := weak.CombinedOutput(); !strings.Contains(string(out), "at least 32 bytes") {
		t.Errorf("with a short secret, the server printed %s", out)
	}
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Env = []string{secret, "ADDR=" + address, "GIN_MODE=release"}
	process.Start(t, dir, cmd)
	process.AwaitPort(t, address)
	token := must.Get(plantstore.Command(t, dir, []string{secret}, "token").Output())(t)
	code, out := plantstore.Finish(t, plantstore.Command(t, dir, []string{"TOKEN=" + strings.TrimSpace(string(token))}, "conformance", "--url", "http://"+address))
	if code != 0 || !strings.Contains(out, " 0 failed") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}
