package attack

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// The user that runs the program, and an attacker.
const (
	victim   = 65532
	attacker = 65533
	secret   = "a secret of these tests, long enough for HS256"
)

// A machine is a site with a working directory of the victim.
type machine struct {
	site

	t   *testing.T
	dir string
}

// newMachine returns a machine for two users; this requires root.
func newMachine(t *testing.T) machine {
	t.Helper()
	s := newSite(t)
	return machine{s, t, s.mkdir(t, "work", 0o700, victim)}
}

func (m machine) check(errs ...error) {
	m.t.Helper()
	must.Do(m.t, errors.Join(errs...))
}

// file creates a file with that owner and mode in the directory.
func (m machine) file(name, contents string, owner int, mode fs.FileMode) {
	m.t.Helper()
	path := filepath.Join(m.dir, name)
	m.check(os.RemoveAll(path), os.WriteFile(path, []byte(contents), 0o600), os.Chown(path, owner, owner), os.Chmod(path, mode))
}

// run runs the program as the victim in the directory.
func (m machine) run(env []string, args ...string) result {
	m.t.Helper()
	cmd := plantstore.Command(m.t, m.dir, env, args...)
	m.as(m.t, cmd, m.program, victim)
	return finish(m.t, cmd)
}

// wantRefused checks that a run has failed, with the reason and without the secret.
func wantRefused(t *testing.T, action string, r result, want string) {
	t.Helper()
	if r.code != 1 && r.code != 2 || !strings.Contains(r.output, want) || !strings.Contains(r.output, "other users can change it") || strings.Contains(r.output, "eyJ") {
		t.Errorf("%s: exit code %d, want 1, or 2 for a file of the configuration, and %q:\n%s", action, r.code, want, r.output)
	}
}

// TestSecretsThatOthersCanChange checks that a secret or a key that the attacker can change is
// refused, wherever it is configured.
func TestSecretsThatOthersCanChange(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	public, private := pemPair(t)
	contents := map[string]string{
		"--jwt-secret-file": secret, "--jwt-public-keys": public, "--key": private,
	}
	for flag, text := range contents {
		args := []string{"token", flag, "file"}
		if flag == "--jwt-public-keys" {
			m.file("key.pem", private, victim, 0o600)
			args = append(args, "--key", "key.pem")
		}
		for name, test := range map[string]struct {
			owner int
			mode  fs.FileMode
			want  string
		}{
			"the attacker's":           {attacker, 0o644, "belongs to the user 65533"},
			"writable by everybody":    {victim, 0o666, "its mode is 0666"},
			"root's, for everybody":    {0, 0o666, "its mode is 0666"},
			"writable by root's group": {0, 0o664, "its mode is 0664"},
		} {
			m.file("file", text, test.owner, test.mode)
			wantRefused(t, flag+" "+name, m.run(nil, args...), test.want)
		}
		for _, owner := range []int{0, victim} {
			m.file("file", text, owner, 0o644) // like the mounts of containers
			if r := m.run(nil, args...); r.code != 0 {
				t.Errorf("%s of user %d, mode 0644: exit code %d\n%s", flag, owner, r.code, r.output)
			}
		}
	}
}

// TestKeyOfTLSThatOthersCanChange checks that a private key of the certificate that the
// attacker can change is refused, too.
func TestKeyOfTLSThatOthersCanChange(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	public, private := pemPair(t)
	m.file("cert.pem", public, victim, 0o644)
	m.file("key.pem", private, attacker, 0o644)
	env := []string{"ADDR=127.0.0.1:0", "TLS_CERT_FILE=cert.pem", "TLS_KEY_FILE=key.pem"}
	wantRefused(t, "TLS_KEY_FILE", m.run(env, "serve"), "belongs to the user 65533")
}

// TestGeneratedSecretOfOthers checks that in a directory that the attacker can write to, he can
// neither choose nor read the generated secret.
func TestGeneratedSecretOfOthers(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	chosen := filepath.Join(filepath.Dir(m.dir), "chosen")
	m.check(os.WriteFile(chosen, []byte(secret), 0o600), os.Chown(chosen, victim, victim))
	path := filepath.Join(m.dir, "data", "jwt-secret")
	for _, mode := range []fs.FileMode{0o777, 0o777 | fs.ModeSticky} {
		m.check(os.RemoveAll(filepath.Dir(path)), os.Mkdir(filepath.Dir(path), 0o700), os.Chown(filepath.Dir(path), victim, victim), os.Chmod(filepath.Dir(path), mode))
		m.check(os.Symlink(chosen, path), os.Lchown(path, attacker, attacker))
		if r := m.run(nil, "token"); r.code != 1 || !strings.Contains(r.output, "jwt-secret is a symbolic link") || strings.Contains(r.output, "eyJ") {
			t.Errorf("a link, mode %v: exit code %d\n%s", mode, r.code, r.output)
		}
		m.file("data/jwt-secret", secret, attacker, 0o644)
		wantRefused(t, "the attacker's file", m.run(nil, "token"), "belongs to the user 65533")
		m.file("data/jwt-secret", secret, victim, 0o644)
		if r := m.run(nil, "token"); r.code != 1 || !strings.Contains(r.output, "other users can read it (mode 0644)") || strings.Contains(r.output, "eyJ") {
			t.Errorf("a readable file: exit code %d\n%s", r.code, r.output)
		}
		m.check(os.Remove(path))
		if r := m.run(nil, "token"); r.code != 0 || !strings.Contains(r.output, "eyJ") {
			t.Errorf("without a file: exit code %d\n%s", r.code, r.output)
		}
	}
}

// TestFIFOs checks that a FIFO of another user in the place of a file is refused at once.
func TestFIFOs(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.check(os.Mkdir(filepath.Join(m.dir, "data"), 0o777), os.Chmod(filepath.Join(m.dir, "data"), 0o777))
	for name, args := range map[string]string{
		".env": "token", "data/jwt-secret": "token", "secret": "token --jwt-secret-file secret",
		"key": "token --key key", "public": "serve --addr 127.0.0.1:0 --jwt-public-keys public",
	} {
		path := filepath.Join(m.dir, name)
		m.check(syscall.Mkfifo(path, 0o600), os.Chown(path, attacker, attacker), os.Chmod(path, 0o666))
		if r := m.run(nil, strings.Fields(args)...); r.code <= 0 || !strings.Contains(r.output, "it is not a regular file") && !strings.Contains(r.output, "belongs to the user 65533") {
			t.Errorf("%s in %s: exit code %d\n%s", args, name, r.code, r.output)
		}
		m.check(os.Remove(path))
	}
}

// TestLongFiles checks that .env and secrets have a limit, and that the bad line of a long .env is
// named.
func TestLongFiles(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	for text, want := range map[string]string{
		strings.Repeat("A=1\n", 64<<10/4) + "B=1\n":         "the file is too long",
		strings.Repeat("A=1\n", 64<<10/4-4) + "'":           "line 16381 is not NAME=value",
		"A='" + strings.Repeat("\n", 60<<10):                "line 1 is not NAME=value",
		strings.Repeat("A='\n\n'\n", 7<<10) + "B='\n\n\n\n": "line 21505 is not NAME=value",
	} {
		m.file(".env", text, victim, 0o600)
		if r := m.run(nil, "token"); r.code == 0 || !strings.Contains(r.output, want) {
			t.Errorf("%.20q: exit code %d, want %q\n%.1000s", text, r.code, want, r.output)
		}
	}
	m.file(".env", "", victim, 0o600)
	m.file("secret", strings.Repeat(secret+"\n", 2<<10), victim, 0o600)
	if r := m.run(nil, "token", "--jwt-secret-file", "secret"); r.code != 2 || !strings.Contains(r.output, "the file is too long") {
		t.Errorf("a secret: exit code %d\n%s", r.code, r.output)
	}
}

// TestSecretAsFileName checks that a secret or a URL is not printed if it is given where a file is
// expected.
func TestSecretAsFileName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, private := pemPair(t)
	for _, text := range []string{"hunter2", "q1w2e3r4+hunter2/q1w2e3r4q1w2e3r4q1w2e3r4", "postgres://u:hunter2@h/db", "host=h password=hunter2", "hunter2\n" + private} {
		for _, env := range []string{"JWT_SECRET_FILE", "JWT_PUBLIC_KEYS", "TLS_KEY_FILE"} {
			all := []string{env + "=" + text, "ADDR=127.0.0.1:0", "ADMIN_ADDR=127.0.0.1:0"}
			if env == "TLS_KEY_FILE" {
				all = append(all, "TLS_CERT_FILE="+text)
			}
			if r := finish(t, plantstore.Command(t, dir, all, "serve")); r.code == 0 || strings.Contains(r.output, "hunter2") {
				t.Errorf("%s: exit code %d\n%s", env, r.code, r.output)
			}
		}
		for _, args := range [][]string{{"token", "--key", text}, {"conformance", "--token", "x", "--secret-file", text}, {"conformance", "--token-file", text}} {
			if r := finish(t, plantstore.Command(t, dir, nil, args...)); r.code == 0 || strings.Contains(r.output, "hunter2") {
				t.Errorf("%.30q: exit code %d\n%s", args, r.code, r.output)
			}
		}
	}
}

// TestDotenvOfOthers checks that a .env file that the attacker can change is refused.
func TestDotenvOfOthers(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.check(os.Chmod(m.dir, 0o777|fs.ModeSticky))
	const trap = "JWT_SECRET=0123456789abcdef0123456789abcdef\n"
	for _, command := range []string{"serve", "config", "token", "plants count", "health", "openapi"} {
		m.file(".env", trap, attacker, 0o644)
		wantRefused(t, command, m.run(nil, strings.Fields(command)...), "belongs to the user 65533")
		m.file(".env", trap, victim, 0o666)
		wantRefused(t, command, m.run(nil, strings.Fields(command)...), "its mode is 0666")
	}
	m.file("chosen", trap, victim, 0o600)
	m.check(os.Remove(filepath.Join(m.dir, ".env")), os.Symlink("chosen", filepath.Join(m.dir, ".env")))
	for _, owner := range []int{attacker, victim, 0} { // who owned it when it was opened cannot be checked
		m.check(os.Lchown(filepath.Join(m.dir, ".env"), owner, owner))
		if r := m.run(nil, "token"); r.code != 2 || !strings.Contains(r.output, ".env is a symbolic link") || strings.Contains(r.output, "eyJ") {
			t.Errorf("through a link of user %d: exit code %d\n%s", owner, r.code, r.output)
		}
	}
	m.file(".env", trap, 0, 0o644)
	if r := m.run(nil, "token"); r.code != 0 {
		t.Errorf("with .env of root: exit code %d\n%s", r.code, r.output)
	}
	m.file(".env", "LOG_LEVEL=debug\n", victim, 0o664)
	if r := m.run(nil, "token"); r.code != 0 {
		t.Errorf("with .env of the victim and its group: exit code %d\n%s", r.code, r.output)
	}
}

// TestSecretsFromPipes checks that pipes of the calling shell are accepted.
func TestSecretsFromPipes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, private := pemPair(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, "key.pem"), []byte(private), 0o600))
	program := plantstore.Command(t, dir, nil).Path
	for _, script := range []string{
		`"$0" token --key <(cat key.pem)`, `cat key.pem | "$0" token --key /dev/stdin`, `"$0" token --key /dev/stdin <key.pem`,
		`"$0" token --jwt-secret-file <(echo "` + secret + `")`,
	} {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", script, program)
		cmd.Dir = dir
		if r := finish(t, cmd); r.code != 0 || !strings.Contains(r.output, "eyJ") {
			t.Errorf("%s: exit code %d\n%s", script, r.code, r.output)
		}
	}
}

// TestPublicKeyAsSecret checks that a published key is not accepted as a secret: a token that is
// signed with its text is refused, even after the key was put into the file of the secret.
func TestPublicKeyAsSecret(t *testing.T) {
	t.Parallel()
	public, _ := pemPair(t)
	dir := t.TempDir()
	write := func(name, contents string) {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(contents), 0o600))
	}
	write("pem", public)
	for _, env := range []string{"JWT_SECRET=" + public, "JWT_SECRET=" + strings.ReplaceAll(public, "\n", " "), "JWT_SECRET_FILE=pem"} {
		for _, command := range []string{"serve", "token"} {
			r := finish(t, plantstore.Command(t, t.TempDir(), []string{"ADDR=127.0.0.1:0", strings.Replace(env, "=pem", "="+filepath.Join(dir, "pem"), 1)}, command))
			if r.code == 0 || !strings.Contains(r.output, "JWT_PUBLIC_KEYS") {
				t.Errorf("%s with %.20s: exit code %d\n%s", command, env, r.code, r.output)
			}
		}
	}
	write("secret", secret+"\n")
	server := plantstore.Start(t, plantstore.Options{Dir: dir, Env: []string{"JWT_SECRET_FILE=secret"}})
	write("secret", public)
	server.HangUp()
	server.AwaitLog("JWT_PUBLIC_KEYS")
	if got := server.Post(sign(t, public), `{"id":1,"name":"x"}`).Status; got != http.StatusBadRequest {
		t.Errorf("a token that was signed with the published key: status %d", got)
	}
	if got := server.Post(sign(t, secret), `{"id":1,"name":"x"}`).Status; got != http.StatusOK {
		t.Errorf("the previous secret: status %d\n%s", got, server.Log())
	}
}

func sign(t *testing.T, key string) string {
	t.Helper()
	token := must.Get(jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"sub": "mallory"}).SignedString([]byte(key)))(t)
	return token
}

// pemPair returns a new pair of keys.
func pemPair(t *testing.T) (public, private string) {
	t.Helper()
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	open := must.Get(x509.MarshalPKIXPublicKey(key.Public()))(t)
	closed := must.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: open})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: closed}))
}
