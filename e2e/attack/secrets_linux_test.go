package attack

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/internal/must"
)

const changed, ofAttacker = "other users can change it", "belongs to the user 65533"

// wantRefused checks that a run as the victim fails with these words and without a token.
func (m site) wantRefused(code int, line string, words ...string) {
	m.t.Helper()
	got, out := m.run(victim, line)
	for _, word := range words {
		if got != code || !strings.Contains(out, word) || strings.Contains(out, "eyJ") {
			m.t.Errorf("%s: exit code %d, want %d and %q:\n%s", line, got, code, word, out)
		}
	}
}

// wantToken checks that a run as the victim prints a token.
func (m site) wantToken(line string) {
	m.t.Helper()
	if code, out := m.run(victim, line); code != 0 || !strings.Contains(out, "eyJ") {
		m.t.Errorf("%s: exit code %d, want a token\n%s", line, code, out)
	}
}

// TestSecretsThatOthersCanChange checks that a secret or a key that the attacker can change is
// refused, wherever it is configured. Mounts of containers are accepted.
func TestSecretsThatOthersCanChange(t *testing.T) {
	t.Parallel()
	m := newWork(t)
	public, private := pemPair(t)
	m.file("key.pem", private, victim, 0o600)
	m.file("cert.pem", public, victim, 0o644)
	for line, test := range map[string]struct {
		contents string
		code     int
	}{
		"token --jwt-secret-file file":                       {secret, 2},
		"token --jwt-public-keys file --key key.pem":         {public, 2},
		"token --key file":                                   {private, 1},
		"serve --tls-cert-file cert.pem --tls-key-file file": {private, 2},
	} {
		for _, bad := range []struct {
			owner  int
			mode   fs.FileMode
			reason string
		}{{attacker, 0o644, ofAttacker}, {victim, 0o666, "its mode is 0666"}, {0, 0o666, "its mode is 0666"}, {0, 0o664, "its mode is 0664"}} {
			m.file("file", test.contents, bad.owner, bad.mode)
			m.wantRefused(test.code, line, bad.reason, changed)
		}
		for _, owner := range []int{0, victim} {
			if m.file("file", test.contents, owner, 0o644); strings.HasPrefix(line, "token") {
				m.wantToken(line)
			}
		}
	}
}

// TestGeneratedSecretOfOthers checks that in a directory that the attacker can write to, he can
// neither choose nor read the generated secret.
func TestGeneratedSecretOfOthers(t *testing.T) {
	t.Parallel()
	m := newWork(t)
	m.file("../chosen", secret, victim, 0o600)
	for _, mode := range []fs.FileMode{0o777, 0o777 | fs.ModeSticky} {
		m.check(os.RemoveAll(m.at("data")))
		m.mkdir("data", mode, victim)
		m.link(m.at("../chosen"), "data/jwt-secret", attacker)
		m.wantRefused(1, "token", "jwt-secret is a symbolic link")
		m.file("data/jwt-secret", secret, attacker, 0o644)
		m.wantRefused(1, "token", ofAttacker, changed)
		m.file("data/jwt-secret", secret, victim, 0o644)
		m.wantRefused(1, "token", "other users can read it (mode 0644)")
		m.check(os.Remove(m.at("data/jwt-secret")))
		m.wantToken("token")
	}
}

// TestGroupOfVolume restarts the server after kubelet has given all files of the volume to the group of the
// pod, with read and write access.
func TestGroupOfVolume(t *testing.T) {
	t.Parallel()
	m := newWork(t)
	id := strconv.Itoa(victim)
	m.file("../serve", "#!/bin/sh\nexec setpriv --reuid="+id+" --regid="+id+" --clear-groups "+m.program+` "$@"`, 0, 0o755)
	for pod := range 3 {
		s := plantstore.Start(t, plantstore.Options{Dir: m.dir, Binary: m.at("../serve")})
		_, token := m.run(victim, "token")
		if reply := s.Post(strings.TrimSpace(token), fmt.Sprintf(`{"id":%d,"name":"fern"}`, pod)); reply.Status != http.StatusOK {
			t.Errorf("pod %d: %+v", pod, reply)
		}
		s.Stop()
		process.Run(t, "chgrp", "-R", id, m.dir)
		process.Run(t, "chmod", "-R", "ug+rw", m.dir)
	}
}

// TestNoPermissions checks that on a file system without permissions no secret is left behind that
// others could read, and that the remedy in the message works.
func TestNoPermissions(t *testing.T) {
	t.Parallel()
	mount := faultfs.Mount(t)
	mount.KeepNoModes()
	database := "STORAGE_URL=" + filepath.Join(mount.Dir, "data/plants.db")
	code, out := plantstore.Finish(t, plantstore.Command(t, t.TempDir(), []string{database}, "serve", "--addr", "127.0.0.1:0"))
	if code != 1 || !strings.Contains(out, "keeps no permissions") || !strings.Contains(out, "set JWT_SECRET") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if _, err := os.Lstat(filepath.Join(mount.Dir, "data/jwt-secret")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
	s := plantstore.Start(t, plantstore.Options{Env: []string{database, "JWT_SECRET=" + secret}})
	if reply := s.Post(s.Token(), `{"id":1,"name":"fern"}`); reply.Status != http.StatusOK {
		t.Errorf("with JWT_SECRET: %+v", reply)
	}
}

// TestFIFOs checks that a FIFO of another user in the place of a file is refused at once.
func TestFIFOs(t *testing.T) {
	t.Parallel()
	m := newWork(t)
	m.mkdir("data", 0o777, 0)
	for name, line := range map[string]string{
		".env": "token", "data/jwt-secret": "token", "secret": "token --jwt-secret-file secret", "key": "token --key key",
		"public": "serve --jwt-public-keys public",
	} {
		m.check(syscall.Mkfifo(m.at(name), 0o600), os.Chown(m.at(name), attacker, attacker), os.Chmod(m.at(name), 0o666))
		code, out := m.run(victim, line)
		if code <= 0 || !strings.Contains(out, "it is not a regular file") && !strings.Contains(out, ofAttacker) {
			t.Errorf("%s in %s: exit code %d\n%s", line, name, code, out)
		}
		m.check(os.Remove(m.at(name)))
	}
}

// TestDotenvOfOthers checks that a .env file that the attacker can change is refused.
func TestDotenvOfOthers(t *testing.T) {
	t.Parallel()
	m := newWork(t)
	m.check(os.Chmod(m.dir, 0o777|fs.ModeSticky))
	const trap = "JWT_SECRET=0123456789abcdef0123456789abcdef\n"
	for _, command := range []string{"serve", "config", "token", "plants count", "health", "openapi"} {
		m.file(".env", trap, attacker, 0o644)
		m.wantRefused(2, command, ofAttacker, changed)
		m.file(".env", trap, victim, 0o666)
		m.wantRefused(2, command, "its mode is 0666", changed)
	}
	m.file("chosen", trap, victim, 0o600)
	for _, owner := range []int{attacker, victim, 0} { // who owned it when it was opened cannot be checked
		m.check(os.Remove(m.at(".env")))
		m.link("chosen", ".env", owner)
		m.wantRefused(2, "token", ".env is a symbolic link")
	}
	m.file(".env", trap, 0, 0o644)
	m.wantToken("token")
	m.file(".env", "LOG_LEVEL=debug\n", victim, 0o664)
	m.wantToken("token")
}

// TestBadLineOfLongDotenv checks that the bad line of a long .env is named.
func TestBadLineOfLongDotenv(t *testing.T) {
	t.Parallel()
	for text, line := range map[string]string{
		strings.Repeat("A=1\n", 64<<10/4-4) + "'":           "line 16381 is not NAME=value",
		"A='" + strings.Repeat("\n", 60<<10):                "line 1 is not NAME=value",
		strings.Repeat("A='\n\n'\n", 7<<10) + "B='\n\n\n\n": "line 21505 is not NAME=value",
	} {
		dir := t.TempDir()
		must.Do(t, os.WriteFile(filepath.Join(dir, ".env"), []byte(text), 0o600))
		if code, out := plantstore.Finish(t, plantstore.Command(t, dir, nil, "token")); code != 2 || !strings.Contains(out, line) {
			t.Errorf("%.20q: exit code %d, want 2 and %q\n%.1000s", text, code, line, out)
		}
	}
}

// TestSecretAsFileName checks that a secret or a URL is not printed if it is given where a file is
// expected.
func TestSecretAsFileName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, private := pemPair(t)
	for _, text := range []string{
		"hunter2", "q1w2e3r4+hunter2/q1w2e3r4q1w2e3r4q1w2e3r4", "postgres://u:hunter2@h/db", "host=h password=hunter2", "hunter2\n" + private,
	} {
		for _, line := range []string{
			"JWT_SECRET_FILE=TEXT serve", "JWT_PUBLIC_KEYS=TEXT serve", "TLS_CERT_FILE=TEXT TLS_KEY_FILE=TEXT serve",
			"token --key TEXT", "conformance --token x --secret-file TEXT", "conformance --token-file TEXT",
		} {
			env, args := []string{"ADDR=127.0.0.1:0"}, []string{}
			for word := range strings.FieldsSeq(line) {
				full := strings.Replace(word, "TEXT", text, 1)
				if strings.Contains(word, "=") {
					env = append(env, full)
				} else {
					args = append(args, full)
				}
			}
			code, out := plantstore.Finish(t, plantstore.Command(t, dir, env, args...))
			if code == 0 || strings.Contains(out, "hunter2") {
				t.Errorf("%s of %.30q: exit code %d\n%s", line, text, code, out)
			}
		}
	}
}

// TestSecretsFromPipes checks that pipes of the calling shell are accepted.
func TestSecretsFromPipes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, private := pemPair(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, "key.pem"), []byte(private), 0o600))
	for _, script := range []string{
		`"$0" token --key <(cat key.pem)`, `cat key.pem | "$0" token --key /dev/stdin`, `"$0" token --key /dev/stdin <key.pem`,
		`"$0" token --jwt-secret-file <(echo "` + secret + `")`,
	} {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", script, plantstore.Command(t, dir, nil).Path)
		cmd.Dir = dir
		if code, out := plantstore.Finish(t, cmd); code != 0 || !strings.Contains(out, "eyJ") {
			t.Errorf("%s: exit code %d\n%s", script, code, out)
		}
	}
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
