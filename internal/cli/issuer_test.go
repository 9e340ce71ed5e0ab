package cli_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

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
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{key: key}
	p.publish(p.jwk("k1", ""))
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
func (p *provider) jwk(kid, more string) string {
	public := base64.RawURLEncoding.EncodeToString(p.key[ed25519.SeedSize:])
	return fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q,"kid":%q%s}`, public, kid, more)
}

// sign returns a token with the kid "k1".
func (p *provider) sign(payload string) string { return p.signAs("k1", payload) }

func (p *provider) signAs(kid, payload string) string {
	encode := base64.RawURLEncoding.EncodeToString
	text := encode(fmt.Appendf(nil, `{"alg":"EdDSA","kid":%q}`, kid)) + "." + encode([]byte(payload))
	return text + "." + encode(ed25519.Sign(p.key, []byte(text)))
}

// TestTokensOfProviders checks the tokens that identity providers issue: each is accepted, or is
// refused with a message that names the cause, the kid in the log and a reason in the metrics.
func TestTokensOfProviders(t *testing.T) {
	t.Chdir(t.TempDir())
	p, stranger := newProvider(t), newProvider(t)
	s := startServer(t, "plantstore", []string{
		"JWT_JWKS_URL=" + p.url, "JWT_ISSUER=https://a/, https://b/", "JWT_AUDIENCE=api://plants,0oa1", "JWT_SCOPE=plants:create", "JWT_REQUIRE_EXP=true",
	})
	ready, now := s.ready(t), time.Now().Unix()
	claims := func(iss, aud, scopes string, exp int64) string {
		return p.sign(fmt.Sprintf(`{"iss":%q,"aud":%s,"exp":%d,%s}`, iss, aud, exp, scopes))
	}
	const a, plants, scope = "https://a/", `"api://plants"`, `"scope":"plants:create"`
	later := now + 3600
	reasons := make(map[string]int)
	for _, test := range []struct {
		name, token     string
		reason, message string // empty: accepted
	}{
		{"scope", claims(a, plants, `"scope":"openid plants:create"`, later), "", ""},
		{"scope, array (Auth0 rules)", claims(a, plants, `"scope":["openid","plants:create"]`, later), "", ""},
		{"scp, array (Okta)", claims(a, plants, `"scp":["openid","plants:create"]`, later), "", ""},
		{"scp, string (Entra ID)", claims(a, plants, `"scp":"openid plants:create"`, later), "", ""},
		{"second issuer, one of several audiences", claims("https://b/", `["x","0oa1"]`, scope, later), "", ""},

		{"roles and permissions", claims(a, plants, `"roles":["plants:create"],"permissions":["plants:create"]`, later), "scope", "lacks the scope plants:create"},
		{"no issuer", p.sign(fmt.Sprintf(`{"aud":%s,"exp":%d,%s}`, plants, later, scope)), "issuer", "required here: iss"},
		{"no audience", p.sign(fmt.Sprintf(`{"iss":%q,"exp":%d,%s}`, a, later, scope)), "audience", "required here: aud"},
		{"no expiry", p.sign(fmt.Sprintf(`{"iss":%q,"aud":%s,%s}`, a, plants, scope)), "no_expiry", "required here: exp"},
		{"no claims", p.sign(`{}`), "no_expiry", "required here: exp, iss, aud"},
		{"both issuers in one", claims("https://a/, https://b/", plants, scope, later), "issuer", "(iss)"},
		{"other audience", claims(a, `["x"]`, scope, later), "audience", "(aud)"},
		{"expired", claims(a, plants, scope, now-60), "expired", "has expired"},
		{"not yet valid", claims(a, plants, scope+fmt.Sprintf(`,"nbf":%d`, later), later), "not_yet_valid", "not valid yet"},
		{"exp as string", p.sign(`{"exp":"tomorrow"}`), "malformed", "exp must be a number"},
		{"unknown key", p.signAs("k2", `{}`), "unknown_key", "not signed with a key"},
		{"other key, same kid", stranger.sign(`{}`), "signature", "not signed with a key"},
		{"no token", "x", "malformed", "not a well-formed"},
	} {
		_, body := post(t, ready.BaseURL, test.token, fmt.Sprintf(`{"id":%d,"name":"x"}`, lastID.Add(1)))
		if strings.Contains(body, `"error"`) != (test.reason != "") || !strings.Contains(body, test.message) {
			t.Errorf("%s: the response is %s, want %q", test.name, body, test.message)
		}
		if test.reason != "" {
			reasons[test.reason]++
		}
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, ready.BaseURL+"/plants", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	roundTrip(t, request)
	reasons["missing"]++
	metrics := get(t, ready.AdminURL+"/metrics")
	for reason, n := range reasons {
		if want := fmt.Sprintf("\nplantstore_credentials_refused_total{reason=%q} %d\n", reason, n); !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
}

// TestRefusedKidIsLogged checks that the log has the kid of a refused token, but never the token or
// an unbounded text.
func TestRefusedKidIsLogged(t *testing.T) {
	t.Chdir(t.TempDir())
	p := newProvider(t)
	s := startServer(t, "plantstore", []string{"JWT_JWKS_URL=" + p.url, "JWT_AUDIENCE=plants"})
	long := strings.Repeat("é", 100)
	tokens := []string{p.signAs("unknown", `{}`), p.sign(`{}`), p.signAs(long, `{}`), p.signAs(p.sign(`{}`), `{}`)}
	for _, token := range tokens {
		post(t, s.ready(t).BaseURL, token, `{}`)
	}
	log := s.log()
	for _, want := range []string{`"cause":"kid \"unknown\": `, `"cause":"kid \"k1\": `, `"cause":"kid \"` + long[:64] + `\": `, `"cause":"kid \"REDACTED\": `} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s", want)
		}
	}
	for _, token := range tokens {
		if strings.Contains(log, token) {
			t.Errorf("the log contains a token")
		}
	}
	if t.Failed() {
		t.Log(log)
	}
}
