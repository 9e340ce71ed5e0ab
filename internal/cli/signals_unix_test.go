//go:build unix

package cli_test

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"plantstore/internal/must"
)

// sendHangUp sends SIGHUP to the server in this process.
func sendHangUp(t *testing.T) {
	t.Helper()
	caught := make(chan os.Signal, 1) // so that the signal does not end this process
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	must.Do(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
}

// hangUp sends SIGHUP, as an operator does, and waits until the server is done with it,
// which shows in whether it accepts these tokens.
func hangUp(t *testing.T, base string, tokens map[string]bool) {
	t.Helper()
	sendHangUp(t)
	for token, want := range tokens {
		await(t, fmt.Sprintf("after SIGHUP a token is accepted: %t", want), func() bool { return accepts(t, base, token) == want })
	}
}

// TestKeysAreReloaded checks that secrets, public keys and the set of the issuer are rotated by
// SIGHUP. Tokens of a removed key are refused, though they were accepted before.
func TestKeysAreReloaded(t *testing.T) {
	t.Chdir(t.TempDir())
	issuer := newProvider(t)
	publish := func(set string) { issuer.responds(http.StatusOK, set) }
	publish(ed25519Set(t, "issued", "k"))
	writeKeyPair(t, "a")
	writeFile(t, "secrets", secret+"\n")
	s := startServer(t, []string{
		"JWT_SECRET_FILE=secrets", "JWT_PUBLIC_KEYS=a.pub", "JWT_JWKS_URL=" + issuer.url,
	})
	base := s.ready(t).BaseURL
	sign := func(args ...string) string {
		return token(t, []string{"JWT_JWKS_URL=" + issuer.url}, append([]string{"--key"}, args...)...)
	}
	oldSecret := token(t, []string{"JWT_SECRET_FILE=secrets"})
	oldKey, oldIssued := sign("a.pem"), sign("issued.pem", "--kid", "k")
	for _, token := range []string{oldSecret, oldKey, oldIssued} {
		if !accepts(t, base, token) {
			t.Error("a token is refused before SIGHUP")
		}
	}

	writeFile(t, "secrets", "new "+secret+"\n"+secret+"\n")
	newSecret := token(t, []string{"JWT_SECRET_FILE=secrets"})
	writeKeyPair(t, "a")
	publish(ed25519Set(t, "issued", "k"))
	newKey, newIssued := sign("a.pem"), sign("issued.pem", "--kid", "k")
	for _, token := range []string{newSecret, newKey, newIssued} {
		if accepts(t, base, token) {
			t.Error("a token is accepted before SIGHUP")
		}
	}
	hangUp(t, base, map[string]bool{
		oldSecret: true, newSecret: true, oldKey: false, newKey: true, oldIssued: false, newIssued: true,
	})

	// An invalid file has no effect, and the others are reloaded nevertheless.
	publish("garbage")
	writeFile(t, "secrets", "new "+secret+"\n")
	hangUp(t, base, map[string]bool{oldSecret: false, newSecret: true, newKey: true, newIssued: true})
	publish(ed25519Set(t, "issued", "k"))
	writeFile(t, "secrets", "weak\n")
	lastIssued := sign("issued.pem", "--kid", "k")
	hangUp(t, base, map[string]bool{newSecret: true, newKey: true, newIssued: false, lastIssued: true})

	log := s.log()
	for _, want := range []string{
		`"level":"INFO","msg":"reloaded","reloaded":"secrets and public keys; issuer keys"`,
		`"level":"ERROR","msg":"reload failed","reloaded":"secrets and public keys","kept":"issuer keys","cause":"JWT_JWKS_URL: the keys of ` + issuer.url + `: it is not a JWK Set`,
		`"level":"ERROR","msg":"reload failed","reloaded":"issuer keys","kept":"secrets and public keys","cause":"JWT_SECRET_FILE: secrets: line 1: the secret is too weak`,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
}

// TestLostSecret checks that if the secret next to the database was removed, SIGHUP generates
// no new one, and the log has the remedy.
func TestLostSecret(t *testing.T) {
	t.Chdir(t.TempDir())
	s := startServer(t, nil)
	base, issued := s.ready(t).BaseURL, token(t, nil)
	must.Do(t, os.Remove("data/jwt-secret"))
	sendHangUp(t)
	await(t, "the log has a failed reload", func() bool { return strings.Contains(s.sofar(), "reload failed") })
	if !accepts(t, base, issued) {
		t.Error("a token of before is refused")
	}
	if _, err := os.Stat("data/jwt-secret"); err == nil {
		t.Error("a new secret was made")
	}
	if log := s.log(); !strings.Contains(log, `"msg":"reload failed","reloaded":"nothing","kept":"secrets and public keys"`) || !strings.Contains(log, "put it back") {
		t.Errorf("its log:\n%s", log)
	}
}
