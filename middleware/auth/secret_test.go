package auth

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"plantstore/internal/certtest"
	"plantstore/internal/must"
	"plantstore/models"
)

// TestSecretsAreRedacted checks that secrets are redacted in each form of output
// (C4.25).
func TestSecretsAreRedacted(t *testing.T) {
	t.Parallel()
	secret := Secret(testSecret)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		if printed := fmt.Sprintf(verb, secret); printed != models.Redacted {
			t.Errorf("%s: %s", verb, printed)
		}
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", secret)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", secret, "options", Options{Secrets: []Secret{secret}})
	if printed := log.String(); strings.Contains(printed, testSecret) || strings.Count(printed, models.Redacted) < 2 {
		t.Errorf("the log: %s", printed)
	}
}

// TestKeysAreNotSecrets checks that a key is rejected as a secret in the forms in which people
// copy it: with a published key as the secret, anyone could sign tokens.
func TestKeysAreNotSecrets(t *testing.T) {
	t.Parallel()
	keys := certtest.Keys(t)
	public := publicPEM(t, keys[0].Public())
	_, body, _ := strings.Cut(public, "\n")
	body, _, _ = strings.Cut(body, "-----END")
	block, _ := pem.Decode([]byte(public))
	small, _ := pem.Decode([]byte(publicPEM(t, keys[1].Public())))
	indented := must.Get(json.MarshalIndent(jwkOf(t, keys[0].Public(), nil), "", "  "))(t)
	for name, text := range map[string]string{
		"PEM after a comment":   "# the key of the issuer\n" + public,
		"PEM in one line":       strings.ReplaceAll(public, "\n", `\n`),
		"PEM without its lines": body,
		"a JWK":                 string(indented),
		"DER":                   string(block.Bytes),
		"DER, small":            string(small.Bytes),
		"DER in base64, small":  base64.StdEncoding.EncodeToString(small.Bytes),
	} {
		if err := Secret(text).Check(); !errors.Is(err, ErrKeyAsSecret) {
			t.Errorf("%s: %v, want ErrKeyAsSecret", name, err)
		}
	}
	for _, text := range []string{ // only resemble a key
		"MIIB" + testSecret, "0" + testSecret, `{"password":"0123456789abcdef0123456789"}`,
		base64.StdEncoding.EncodeToString([]byte(testSecret)),
	} {
		if err := Secret(text).Check(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
