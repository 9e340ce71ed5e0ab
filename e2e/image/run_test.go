package image

import (
	"errors"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// patience bounds every wait; it is far above the usual duration.
const patience = time.Minute

// start starts a container with only the privileges that the image needs: a read-only root and
// no capability. It returns when the health check of the image passes.
func (s *storage) start(t *testing.T, name string, args ...string) {
	t.Helper()
	s.do(t, append([]string{
		"run", "--detach", "--name=" + name,
		"--read-only", "--read-only-tmpfs=false", "--cap-drop=all", "--security-opt=no-new-privileges",
		// Limits that may be set without privileges, and no systemd timer.
		"--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024", "--log-driver=k8s-file", "--health-interval=disable",
	}, append(args, image)...)...)
	s.await(t, name)
}

// await polls the health check of a container until it passes.
func (s *storage) await(t *testing.T, name string) {
	t.Helper()
	plantstore.Await(t, name+" is healthy", func() bool {
		_, err := s.podmanRun(t.Context(), "healthcheck", "run", name)
		if state := s.do(t, "inspect", "--format={{.State.Status}}", name); err != nil && state != "running" {
			t.Fatalf("the container is %s, and not healthy: %v\n%s", state, err, s.logs(t, name))
		}
		return err == nil
	})
}

// logs returns the output of a container.
func (s *storage) logs(t *testing.T, name string) []byte {
	t.Helper()
	command := s.podmanCommand("logs", name)
	logs, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput()
	if err != nil {
		t.Errorf("%v: %v", command, err)
	}
	return logs
}

// stop stops a container as an operator does, and checks its exit code.
func (s *storage) stop(t *testing.T, name string) {
	t.Helper()
	s.do(t, "stop", "--time=60", name)
	if code := s.do(t, "inspect", "--format={{.State.ExitCode}}", name); code != "0" {
		t.Errorf("after SIGTERM %s ended with exit code %s, want 0", name, code)
	}
}

func checkDefaults(t *testing.T, s *storage) {
	s.start(t, "defaults", "--network=none")
	want := []string{"USER", "GROUP", "65532", "65532"}
	if got := strings.Fields(s.do(t, "top", "defaults", "user", "group")); !slices.Equal(got, want) {
		t.Errorf("the server runs as %q, want %q", got, want)
	}
	if got := s.do(t, "inspect", "--format={{.State.Health.Status}}", "defaults"); got != "healthy" {
		t.Errorf("podman finds the container %q, want healthy", got)
	}
	if got := s.do(t, "inspect", "--format={{.EffectiveCaps}} {{.HostConfig.ReadonlyRootfs}}", "defaults"); got != "[] true" {
		t.Errorf("capabilities, and whether the root is read-only: %s", got)
	}
	_, err := s.podmanRun(t.Context(), "exec", "defaults", "/plantstore", "health", "--storage-url", "/data/other.db")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("health without a server: %v, want exit code 1", err)
	}
	s.stop(t, "defaults")
}

// checkVolume checks that a plant that was created in a container is there when the container is
// started again, and in the next one with the same volume (C5.26), and so is the secret: the
// token is still valid.
func checkVolume(t *testing.T, s *storage) {
	addr := freeAddr(t)
	args := []string{"--network=host", "--volume=plants:/data", "--env=ADDR=" + addr, "--env=ADMIN_ADDR=" + freeAddr(t)}
	s.start(t, "first", args...)
	token := s.do(t, "exec", "first", "/plantstore", "token")
	if r := create(t, addr, token); r.Status != http.StatusOK || r.Body != `{"name":"Monstera"}`+"\n" {
		t.Fatalf("the response is %d %s", r.Status, r.Body)
	}
	s.stop(t, "first")
	s.do(t, "start", "first") // the same container again
	s.await(t, "first")
	wantTaken(t, addr, token)
	s.stop(t, "first")
	s.do(t, "rm", "first")

	s.start(t, "second", args...)
	wantTaken(t, addr, token)
	s.stop(t, "second")
}

// checkMount checks that a mounted directory of another user is refused with its owner and a remedy.
func checkMount(t *testing.T, s *storage) {
	_, err := s.podmanRun(t.Context(), "run", "--network=none", "--cap-drop=all", "--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024",
		"--log-driver=k8s-file", "--volume="+t.TempDir()+":/data", image)
	const want = "database /data/plants.db cannot be opened: permission denied; /data belongs to uid 0, this process is uid 65532: chown 65532 /data, or name"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// checkPort checks that PORT, which platforms set, is the port for clients.
func checkPort(t *testing.T, s *storage) {
	addr := freeAddr(t)
	_, port, _ := net.SplitHostPort(addr)
	s.start(t, "port", "--network=host", "--env=PORT="+port, "--env=ADMIN_ADDR="+freeAddr(t))
	if r := create(t, addr, s.do(t, "exec", "port", "/plantstore", "token")); r.Status != http.StatusOK {
		t.Errorf("the response is %d %s", r.Status, r.Body)
	}
	s.stop(t, "port")
}

// wantTaken checks that the plant of create is stored.
func wantTaken(t *testing.T, addr, token string) {
	t.Helper()
	if r := create(t, addr, token); !r.Identical() {
		t.Errorf("after the restart the response is %d %s, want error 409", r.Status, r.Body)
	}
}

// freeAddr returns a loopback address without a listener.
func freeAddr(t *testing.T) string {
	t.Helper()
	listener := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	return listener.Addr().String()
}

// create sends a NewPlant, always the same.
func create(t *testing.T, addr, token string) plantstore.Reply {
	t.Helper()
	r := must.Get(plantstore.Post(t.Context(), plantstore.NewClient(t), "http://"+addr, token, `{"id":1,"name":"Monstera"}`))(t)
	return r
}
