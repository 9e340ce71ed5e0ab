package auth

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strings"
	"testing"
)

// keyForms returns a key in the forms that people may paste instead of a secret.
func keyForms(t *testing.T) map[string]string {
	t.Helper()
	private, _ := privateKeys(t)[0].(*rsa.PrivateKey)
	der, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	public := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	body := strings.TrimSuffix(strings.SplitAfterN(public, "\n", 2)[1], "-----END PUBLIC KEY-----\n")
	oneJWK, err := json.MarshalIndent(jwkOf(t, private.Public(), nil), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	utf16 := strings.Join(strings.Split(public, ""), "\x00") + "\x00"
	compact := setOf(t, jwkOf(t, private.Public(), nil))
	return map[string]string{
		"PEM":                   public,
		"PEM after blanks":      "\ufeff \r\n\t" + public,
		"PEM after a comment":   "# the key of the issuer, from its page\n" + public,
		"PEM in one line":       strings.ReplaceAll(public, "\n", `\n`),
		"PEM without its lines": body,
		"PEM in base64":         base64.StdEncoding.EncodeToString([]byte(public)),
		"PKCS #1":               string(pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(&private.PublicKey)})),
		"a private key":         string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)})),
		"a certificate":         "-----BEGIN CERTIFICATE-----\nMIIB0123456789abcdef0123456789\n-----END CERTIFICATE-----",
		"DER in base64":         base64.StdEncoding.EncodeToString(der),
		"DER in base64url":      base64.RawURLEncoding.EncodeToString(der),
		"DER in hexadecimal":    hex.EncodeToString(der),
		"DER":                   "\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00" + strings.Repeat("k", 32),
		"PEM in UTF-16":         "\xff\xfe" + utf16,
		"a JWK in UTF-16":       strings.Join(strings.Split(string(oneJWK), ""), "\x00"),
		"PKCS #1 in base64":     base64.StdEncoding.EncodeToString(x509.MarshalPKCS1PublicKey(&private.PublicKey)),
		"a JWK":                 string(oneJWK),
		"a JWK Set":             compact,
		"a JWK in quotes":       "'" + string(oneJWK) + "'",
		"a JWK in JSON":         strings.ReplaceAll(compact, `"`, `\"`),
		"a JWK in base64":       base64.RawURLEncoding.EncodeToString(oneJWK),
		"a symmetric JWK":       `{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMko"}`,
		"an empty JWK Set":      `{"keys":[],"comment":"rotated on Sunday"}`,
		"of SSH":                "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@example",
	}
}

// TestKeysAreNotSecrets checks that a public key is refused as a secret in every form: with a
// published key as the secret, anyone could sign tokens.
func TestKeysAreNotSecrets(t *testing.T) {
	t.Parallel()
	for name, text := range keyForms(t) {
		if _, err := ParseSecret(text); !errors.Is(err, ErrKeyAsSecret) {
			t.Errorf("%s: %v, want ErrKeyAsSecret", name, err)
		}
		if _, err := ReadSecrets(writeKey(t, text), nil); !errors.Is(err, ErrKeyAsSecret) || !strings.Contains(err.Error(), "JWT_PUBLIC_KEYS") {
			t.Errorf("%s in a file: %v, want ErrKeyAsSecret and a remedy", name, err)
		}
		line := strings.ReplaceAll(text, "\n", " ")
		if _, err := ReadSecrets(writeKey(t, testSecret+"\n"+line+"\n"), nil); !errors.Is(err, ErrKeyAsSecret) {
			t.Errorf("%s in a further line: %v, want ErrKeyAsSecret", name, err)
		}
	}
}

// TestSecretsLikeKeys checks that text that only resembles a key is accepted.
func TestSecretsLikeKeys(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		newSecret(), strings.ToUpper(newSecret()), "MIIB" + newSecret(), "0" + newSecret(),
		`{"password":"0123456789abcdef0123456789"}`, "[keys] and more of what people choose", "ssh is not what this secret is about",
		base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef")),
	} {
		if _, err := ParseSecret(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
