package image

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// testcontainers is the module that the program in docs/ci.md uses.
const testcontainers = "github.com/testcontainers/testcontainers-go@v0.45.0"

// engine starts podman's service with the interface of Docker, and returns its address.
func (s *storage) engine(t *testing.T) string {
	t.Helper()
	socket, config := filepath.Join(s.dir, "engine"), filepath.Join(s.dir, "containers.conf")
	const limits = "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1024:1024\"]\nlog_driver = \"k8s-file\"\n"
	must.Do(t, os.WriteFile(config, []byte(limits), 0o600))
	command := s.podmanCommand("system", "service", "--time=0", "unix://"+socket)
	service := exec.CommandContext(t.Context(), command[0], command[1:]...)
	service.Env = append(os.Environ(), "CONTAINERS_CONF="+config)
	var log bytes.Buffer
	service.Stdout, service.Stderr = &log, &log
	must.Do(t, service.Start())
	t.Cleanup(func() {
		_ = service.Process.Kill()
		_ = service.Wait() // it was killed
	})
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		_, err := os.Stat(socket)
		if err == nil {
			return "unix://" + socket
		}
		if time.Now().After(deadline) {
			t.Fatalf("no engine: %v\n%s", err, &log)
		}
	}
}

// checkTestcontainers runs the program in docs/ci.md. Ryuk, which Testcontainers would download,
// is off: the program removes its container itself.
func checkTestcontainers(t *testing.T, s *storage) {
	program := must.Get(os.ReadFile(filepath.Join("testdata", "testcontainers.go.txt")))(t)
	if !bytes.Contains(tools.ProjectFile(t, "docs/ci.md"), []byte("```go\n"+string(program)+"```\n")) {
		t.Error("docs/ci.md does not show the program")
	}
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "plants_test.go"), program, 0o600))
	env := append(os.Environ(), "DOCKER_HOST="+s.engine(t), "TESTCONTAINERS_RYUK_DISABLED=true", "PLANTSTORE_IMAGE="+image)
	for _, args := range [][]string{
		{"mod", "init", "plants"},
		{"mod", "edit", "-require=" + testcontainers},
		{"mod", "tidy"},
		{"test", "-count=1", "."},
	} {
		command := exec.CommandContext(t.Context(), "go", args...)
		command.Dir, command.Env = dir, env
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v", args, errors.Join(err, errors.New(string(out))))
		}
	}
}
