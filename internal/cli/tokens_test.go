package cli_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/certtest"
	"plantstore/internal/must"
)

// writeKeyPair writes a new private key to NAME.pem and its public key to NAME.pub.
func writeKeyPair(t *testing.T, name string) {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	writeFile(t, name+".pem", certtest.PrivatePEM(t, key))
	public := must.Get(x509.MarshalPKIXPublicKey(key.Public()))(t)
	writeFile(t, name+".pub", certtest.PEM("PUBLIC KEY", public))
}

// ed25519Set writes a new Ed25519 key to NAME.pem, and returns a JWK Set with its public key,
// with that kid.
func ed25519Set(t *testing.T, name, kid string) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	must.Do(t, err)
	writeFile(t, name+".pem", certtest.PrivatePEM(t, private))
	return fmt.Sprintf(`{"keys":[{"kty":"OKP","crv":"Ed25519","kid":%q,"x":%q}]}`, kid, base64.RawURLEncoding.EncodeToString(public))
}

// accepts reports whether a server accepts a token.
func accepts(t *testing.T, base, token string) bool {
	t.Helper()
	status, _ := post(t, base, token, fmt.Sprintf(`{"id":%d,"name":"x"}`, lastID.Add(1)))
	return status == http.StatusOK
}

var lastID atomic.Int64

// token returns the output of plantstore token, which must be exactly one line.
func token(t testing.TB, environ []string, args ...string) string {
	t.Helper()
	printed := output(t, environ, append([]string{"token"}, args...)...)
	line, ended := strings.CutSuffix(printed, "\n")
	if !ended || strings.ContainsAny(line, "\n ") || line == "" {
		t.Fatalf("token prints %q, want one line", printed)
	}
	return line
}

// TestTokenClaims checks the claims and the lifetime of tokens, which the kind of the output does not change.
func TestTokenClaims(t *testing.T) {
	t.Parallel()
	for args, test := range map[string]struct {
		claims string // without exp
		ttl    time.Duration
	}{
		"":                        {`{"sub":"developer"}`, 24 * time.Hour},
		"--ttl=0":                 {`{"sub":"developer"}`, 0},
		"--ttl=90s --subject Zoë": {`{"sub":"Zoë"}`, 90 * time.Second},
		"--link":                  {`{"sub":"developer"}`, time.Hour},
		"--link --ttl=90s":        {`{"sub":"developer"}`, 90 * time.Second},
		"--link --ttl=0":          {`{"sub":"developer"}`, 0},
		"--jwt-issuer me,you --jwt-audience plants,api --jwt-scope s": {`{"iss":"me","sub":"developer","aud":"plants","scope":"s"}`, 24 * time.Hour},
	} {
		earliest := time.Now().Add(test.ttl).Unix()
		printed := token(t, []string{"JWT_SECRET=" + secret}, strings.Fields(args)...)
		latest := time.Now().Add(test.ttl).Unix()
		if _, inLink, found := strings.Cut(printed, "#token="); found {
			printed = inLink
		}
		payload := must.Get(base64.RawURLEncoding.DecodeString(strings.Split(printed, ".")[1]))(t)
		var want, got map[string]any
		must.Do(t, json.Unmarshal([]byte(test.claims), &want))
		must.Do(t, json.Unmarshal(payload, &got))
		if expires, _ := got["exp"].(float64); test.ttl > 0 && (int64(expires) < earliest || int64(expires) > latest) {
			t.Errorf("%s: exp is %v, want %d to %d", args, got["exp"], earliest, latest)
		}
		if test.ttl > 0 {
			delete(got, "exp")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: claims (-want +got):\n%s", args, diff)
		}
	}
}

// A provider is an identity provider on loopback: it publishes a key set, and signs tokens.
type provider struct {
	url      string
	key      ed25519.PrivateKey
	response atomic.Pointer[http.HandlerFunc]
}

// newProvider returns a provider that publishes its key with the kid "k1".
func newProvider(t *testing.T) *provider {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	must.Do(t, err)
	p := &provider{key: key}
	p.publish(p.jwk(""))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*p.response.Load())(w, r) }))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// responds makes the provider send this response.
func (p *provider) responds(status int, body string) {
	response := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
	p.response.Store(&response)
}

// publish makes the provider publish a set of these entries.
func (p *provider) publish(entries ...string) {
	p.responds(http.StatusOK, `{"keys":[`+strings.Join(entries, ",")+`]}`)
}

// jwk returns the public key as a JWK with more fields.
func (p *provider) jwk(more string) string {
	public := base64.RawURLEncoding.EncodeToString(p.key[ed25519.SeedSize:])
	return fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q,"kid":"k1"%s}`, public, more)
}

// sign returns a token with the kid "k1".
func (p *provider) sign(payload string) string { return p.signAs("k1", payload) }

func (p *provider) signAs(kid, payload string) string {
	encode := base64.RawURLEncoding.EncodeToString
	text := encode(fmt.Appendf(nil, `{"alg":"EdDSA","kid":%q}`, kid)) + "." + encode([]byte(payload))
	return text + "." + encode(ed25519.Sign(p.key, []byte(text)))
}

// TestTokensOfProviders checks tokens as identity providers issue them: each is accepted, or is refused
// with a message that names the cause, and the reason in the log and the metrics. The log has neither a
// token, nor an unbounded text, nor the secret in the URL of the keys. Keys that cannot be used are ignored.
func TestTokensOfProviders(t *testing.T) {
	t.Chdir(t.TempDir())
	p, stranger := newProvider(t), newProvider(t)
	p.publish(`{"kty":"AKP","kid":"pq","kid":"pq","alg":"ML-DSA-65","pub":"AAAA"}`, `"x"`, p.jwk(`,"alg":"Ed25519"`)) // as in RFC 9864
	s := startServer(t, []string{
		"JWT_JWKS_URL=" + p.url + "/k.json?key=hunter2", "JWT_ISSUER=https://a/, https://b/", "JWT_AUDIENCE=api://plants,0oa1",
		"JWT_SCOPE=plants:create", "JWT_REQUIRE_EXP=true",
	})
	ready, now := s.ready(t), time.Now().Unix()
	claims := func(iss, aud, scopes string, exp int64) string {
		return p.sign(fmt.Sprintf(`{"iss":%q,"aud":%s,"exp":%d,%s}`, iss, aud, exp, scopes))
	}
	const a, plants, scope = "https://a/", `"api://plants"`, `"scope":"plants:create"`
	later, long := now+3600, strings.Repeat("é", 100)
	reasons := map[string]int{"missing": 1}
	tests := []struct {
		name, token     string
		reason, message string // empty: accepted
	}{
		{"scp, array (Okta)", claims(a, plants, `"scp":["openid","plants:create"]`, later), "", ""},
		{"second issuer, one of several audiences", claims("https://b/", `["x","0oa1"]`, scope, later), "", ""},

		{"roles and permissions", claims(a, plants, `"roles":["plants:create"],"permissions":["plants:create"]`, later), "scope", "lacks the scope plants:create"},
		{"no claims", p.sign(`{}`), "no_expiry", "required here: exp, iss, aud"},
		{"both issuers in one", claims("https://a/, https://b/", plants, scope, later), "issuer", "(iss)"},
		{"other audience", claims(a, `["x"]`, scope, later), "audience", "(aud)"},
		{"expired", claims(a, plants, scope, now-60), "expired", "has expired"},
		{"not yet valid", claims(a, plants, scope+fmt.Sprintf(`,"nbf":%d`, later), later), "not_yet_valid", "not valid yet"},
		{"exp as string", p.sign(`{"exp":"tomorrow"}`), "malformed", "exp must be a number"},
		{"unknown key, long kid", p.signAs(long, `{}`), "unknown_key", "not signed with a key"},
		{"unknown key, token as kid", p.signAs(p.sign(`{}`), `{}`), "unknown_key", "not signed with a key"},
		{"other key, same kid", stranger.sign(`{}`), "signature", "not signed with a key"},
		{"empty", "", "malformed", "the access token is empty; plantstore token prints one"},
	}
	for _, test := range tests {
		_, body := post(t, ready.BaseURL, test.token, fmt.Sprintf(`{"id":%d,"name":"x"}`, lastID.Add(1)))
		if strings.Contains(body, `"error"`) != (test.reason != "") || !strings.Contains(body, test.message) {
			t.Errorf("%s: the response is %s, want %q", test.name, body, test.message)
		}
		if test.reason != "" {
			reasons[test.reason]++
		}
	}
	roundTrip(t, must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, ready.BaseURL+"/plants", http.NoBody))(t))
	metrics := get(t, ready.AdminURL+"/metrics")
	for reason, n := range reasons {
		if want := fmt.Sprintf("\nplantstore_credentials_refused_total{reason=%q} %d\n", reason, n); !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	log := s.log()
	for _, reason := range []string{"unknown_key", "signature"} {
		if !strings.Contains(log, `"cause":"`+reason+`"`) {
			t.Errorf("the log lacks the cause %s", reason)
		}
	}
	if !strings.Contains(log, `"msg":"issuer keys ignored"`) || !strings.Contains(log, "field is there twice") {
		t.Error("the log lacks the ignored keys")
	}
	for _, test := range tests {
		if test.token != "" && strings.Contains(log, test.token) {
			t.Errorf("%s: the token is logged", test.name)
		}
	}
	if strings.Contains(s.first+log, "hunter2") {
		t.Error("the secret in the URL of the keys is logged")
	}
	if want := " --key PRIVATE_KEY.pem --jwt-jwks-url " + p.url + "/k.json --jwt-issuer "; !strings.Contains(ready.TokenCommand, want) {
		t.Errorf("the command for a token is %s, without %s", ready.TokenCommand, want)
	}
	if t.Failed() {
		t.Log(log)
	}
}

// await waits until a condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timeout: %s", what)
		}
	}
}
