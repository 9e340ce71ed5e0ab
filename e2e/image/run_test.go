package image

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// checkDefaults checks what the image declares, and a container that is configured only by the image.
func checkDefaults(t *testing.T, s *storage) {
	declared := s.do(t, "image", "inspect", "--format={{.Config.ExposedPorts}} {{.Config.Volumes}} {{.Config.Env}}", image)
	if !strings.HasPrefix(declared, "map[8080/tcp:{}] map[/data:{}] ") || !strings.Contains(declared, "PORT=8080 ADMIN_ADDR=:8081 ") {
		t.Errorf("the image declares %s", declared)
	}
	s.start(t, "defaults", "--network=none")
	want := []string{"USER", "GROUP", "65532", "65532"}
	if got := strings.Fields(s.do(t, "top", "defaults", "user", "group")); !slices.Equal(got, want) {
		t.Errorf("the server runs as %q, want %q", got, want)
	}
	const facts = "--format={{.State.Health.Status}} {{.EffectiveCaps}} {{.HostConfig.ReadonlyRootfs}}"
	if got := s.do(t, "inspect", facts, "defaults"); got != "healthy [] true" {
		t.Errorf("health, capabilities, and whether the root is read-only: %s", got)
	}
	s.stop(t, "defaults")
}

// checkVolume checks that a plant that was created in a container is there when the container is
// started again, and in the next one with the same volume (C5.26), and so is the secret: the
// token is still valid. PORT, which platforms set, is the port for clients.
func checkVolume(t *testing.T, s *storage) {
	address, args := onHost(t, "--volume=kept:/data")
	s.start(t, "first", args...)
	token := s.do(t, "exec", "first", "/plantstore", "token")
	create := func() plantstore.Reply {
		t.Helper()
		return must.Get(plantstore.Post(t.Context(), plantstore.NewClient(t), "http://"+address, token, `{"id":1,"name":"Monstera"}`))(t)
	}
	wantTaken := func() {
		t.Helper()
		if r := create(); !r.Identical() {
			t.Errorf("after the restart the response is %d %s, want error 409", r.Status, r.Body)
		}
	}
	if r := create(); r.Status != http.StatusOK || r.Body != `{"name":"Monstera"}`+"\n" {
		t.Fatalf("the response is %d %s", r.Status, r.Body)
	}
	s.stop(t, "first")
	s.do(t, "start", "first") // the same container again
	s.await(t, "first")
	wantTaken()
	s.stop(t, "first")
	s.do(t, "rm", "first")

	s.start(t, "second", args...)
	wantTaken()
	s.stop(t, "second")
}

// onHost returns a free address of the host, and the arguments of a container that listens there.
func onHost(t *testing.T, args ...string) (address string, all []string) {
	t.Helper()
	listener := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	defer func() { _ = listener.Close() }()
	address = listener.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	return address, append(args, "--network=host", "--env=PORT="+port, "--env=ADMIN_ADDR=127.0.0.1:0")
}

// checkIssuer checks that a container accepts a token of an issuer whose keys are published over HTTPS: the image
// has the certificate authorities of the Go image.
func checkIssuer(t *testing.T, s *storage) {
	public, private, err := ed25519.GenerateKey(nil)
	must.Do(t, err)
	issuer := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"keys":[{"kty":"OKP","crv":"Ed25519","x":%q}]}`, base64.RawURLEncoding.EncodeToString(public))
	}))
	issuer.TLS = s.authority.Server()
	issuer.StartTLS()
	defer issuer.Close()
	address, args := onHost(t, "--env=JWT_JWKS_URL="+issuer.URL)
	s.start(t, "issuer", args...)
	token := must.Get(jwt.New(jwt.SigningMethodEdDSA).SignedString(private))(t)
	r := must.Get(plantstore.Post(t.Context(), plantstore.NewClient(t), "http://"+address, token, `{"id":1,"name":"Monstera"}`))(t)
	if r.Status != http.StatusOK {
		t.Errorf("the response is %d %s\n%s", r.Status, r.Body, s.do(t, "logs", "issuer"))
	}
	s.stop(t, "issuer")
}

// checkManual runs the commands for the image in docs/run.md by podman, except that the image is built already, and
// that the container has the network of the host. The output is a token.
func checkManual(t *testing.T, s *storage) {
	block := regexp.MustCompile("(?ms)^```sh\n(IMAGE=.*?)^```$").FindSubmatch(tools.ProjectFile(t, "docs/run.md"))
	if block == nil {
		t.Fatal("the manual has no such block")
	}
	_, args := onHost(t, "--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024", "--log-driver=k8s-file", "--health-interval=disable")
	here := s.podman(t.Context())
	docker := "docker() { " + strings.Join(here.Args, " ") + ` "$@"; }` + "\n"
	script := strings.NewReplacer("docker build", ": docker build", "--publish 8080:8080", strings.Join(args, " ")).Replace(string(block[1]))
	shell := exec.CommandContext(t.Context(), "bash", "-euc", docker+script)
	shell.Env = here.Env
	out := must.Get(run(shell))(t)
	if lines := strings.Split(out, "\n"); strings.Count(lines[len(lines)-1], ".") != 2 {
		t.Errorf("the commands print %s", out)
	}
}

// checkMount checks that a mounted directory of another user is refused with its owner and a remedy.
func checkMount(t *testing.T, s *storage) {
	_, err := run(s.podman(t.Context(), "run", "--network=none", "--cap-drop=all", "--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024",
		"--log-driver=k8s-file", "--volume="+t.TempDir()+":/data", image))
	const want = "database /data/plants.db cannot be opened: permission denied; /data belongs to uid 0, this process is uid 65532: chown 65532 /data, or name"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// testcontainers is the module that the program in docs/ci.md uses.
const testcontainers = "github.com/testcontainers/testcontainers-go@v0.45.0"

// startEngine starts podman's service with the interface of Docker, and returns its address.
func startEngine(t *testing.T, s *storage) string {
	t.Helper()
	const limits = "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1024:1024\"]\nlog_driver = \"k8s-file\"\n"
	must.Do(t, os.WriteFile(s.path("containers.conf"), []byte(limits), 0o600))
	service := s.podman(t.Context(), "system", "service", "--time=0", "unix://"+s.path("engine"))
	service.Env = append(os.Environ(), "CONTAINERS_CONF="+s.path("containers.conf"))
	var log bytes.Buffer
	service.Stdout, service.Stderr = &log, &log
	must.Do(t, service.Start())
	t.Cleanup(func() {
		_ = service.Process.Kill()
		_ = service.Wait() // it was killed
		if t.Failed() {
			t.Log(log.String())
		}
	})
	plantstore.Await(t, "the engine listens", func() bool {
		_, err := os.Stat(s.path("engine"))
		return err == nil
	})
	return "unix://" + s.path("engine")
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
	env := append(os.Environ(), "DOCKER_HOST="+startEngine(t, s), "TESTCONTAINERS_RYUK_DISABLED=true", "PLANTSTORE_IMAGE="+image)
	for _, args := range [][]string{
		{"mod", "init", "plants"},
		{"mod", "edit", "-require=" + testcontainers},
		{"mod", "tidy"},
		{"test", "-count=1", "."},
	} {
		command := exec.CommandContext(t.Context(), "go", args...)
		command.Dir, command.Env = dir, env
		must.Get(run(command))(t)
	}
}
