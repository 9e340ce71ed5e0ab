package cli_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/internal/must"
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
		{"empty", "", "malformed", "the access token is empty; plantstore token prints one"},
	} {
		_, body := post(t, ready.BaseURL, test.token, fmt.Sprintf(`{"id":%d,"name":"x"}`, lastID.Add(1)))
		if strings.Contains(body, `"error"`) != (test.reason != "") || !strings.Contains(body, test.message) {
			t.Errorf("%s: the response is %s, want %q", test.name, body, test.message)
		}
		if test.reason != "" {
			reasons[test.reason]++
		}
	}
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, ready.BaseURL+"/plants", http.NoBody))(t)
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

// TestUnusableKeysAreSkipped checks that one unusable entry of a key set is skipped with a warning,
// from an issuer and from a file, that a file may be a bare JWK, and that alg may be Ed25519 (RFC 9864).
func TestUnusableKeysAreSkipped(t *testing.T) {
	t.Chdir(t.TempDir())
	p := newProvider(t)
	twice, good := `{"kty":"AKP","kid":"pq","kid":"pq","alg":"ML-DSA-65","pub":"AAAA"}`, p.jwk("k1", `,"alg":"Ed25519"`)
	p.publish(twice, `{"kty":7}`, `"x"`, good)
	writeFile(t, "set.json", `{"keys":[`+twice+`,`+good+`]}`)
	writeFile(t, "bare.json", good)
	writeFile(t, "none.json", `{"keys":[`+twice+`]}`)
	for name, test := range map[string]struct{ env, warning string }{
		"issuer":   {"JWT_JWKS_URL=" + p.url, "issuer keys ignored"},
		"set":      {"JWT_PUBLIC_KEYS=set.json", "public key skipped"},
		"bare JWK": {"JWT_PUBLIC_KEYS=bare.json", ""},
	} {
		s := startServer(t, "plantstore", []string{test.env, "STORAGE_URL=" + strings.ReplaceAll(name, " ", "-") + ".db"})
		if test.warning != "" { // before the banner
			if !strings.Contains(s.first, test.warning) || !strings.Contains(s.first, "field is there twice") {
				t.Errorf("%s: the first line is %s", name, s.first)
			}
			await(t, "the banner", func() bool { return strings.HasSuffix(s.sofar(), "\n") })
			s.first, _, _ = strings.Cut(s.sofar(), "\n")
		}
		if status, body := post(t, s.ready(t).BaseURL, p.sign(`{}`), `{"id":1,"name":"x"}`); status != http.StatusOK {
			t.Errorf("%s: the response is %s", name, body)
		}
	}
	checkFailure(t, run(t, []string{"JWT_PUBLIC_KEYS=none.json"}, "serve", "--addr", "127.0.0.1:0", "--admin-addr", "off"), 2, "JWT_PUBLIC_KEYS: none.json: no key of the set can be used: [key 1 of the set: *")
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

// TestIssuerDownAtStart checks that a server whose issuer is down starts, is not ready, tries again,
// and becomes ready by itself, and that all of it shows in the metrics.
func TestIssuerDownAtStart(t *testing.T) {
	t.Chdir(t.TempDir())
	p := newProvider(t)
	p.responds(http.StatusBadGateway, "<html>Bad Gateway</html>")
	s := startServer(t, "plantstore", []string{"JWT_JWKS_URL=" + p.url})
	ready, token := s.ready(t), p.sign(`{}`)
	if status, body := post(t, ready.BaseURL, token, `{"id":1,"name":"x"}`); status == http.StatusOK {
		t.Errorf("a token is accepted: %s", body)
	}
	const problem = `{"error":503,"message":"not ready: no usable keys of the issuer"}` + "\n"
	if body := get(t, ready.AdminURL+"/readyz"); body != problem {
		t.Errorf("/readyz: %s", body)
	}
	metrics := get(t, ready.AdminURL+"/metrics")
	for _, want := range []string{"plantstore_ready 0", "plantstore_issuer_keys 0", "plantstore_issuer_fetch_failures_total [1-9]"} {
		if !regexp.MustCompile("(?m)^" + want + "$").MatchString(metrics) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if strings.Contains(metrics, "plantstore_issuer_fetched_timestamp_seconds") {
		t.Error("there is a time of a successful fetch")
	}

	p.publish(p.jwk("k1", ""))
	before := time.Now().Unix()
	await(t, "the server is ready", func() bool { return get(t, ready.AdminURL+"/readyz") == `{"status":"ready"}`+"\n" })
	if status, body := post(t, ready.BaseURL, token, `{"id":1,"name":"x"}`); status != http.StatusOK {
		t.Errorf("the response is %s", body)
	}
	metrics = get(t, ready.AdminURL+"/metrics")
	fetched := regexp.MustCompile(`\nplantstore_issuer_fetched_timestamp_seconds (\S+)\n`).FindStringSubmatch(metrics)
	if fetched == nil || !strings.Contains(metrics, "\nplantstore_issuer_keys 1\n") {
		t.Fatalf("the metrics are %s", metrics)
	}
	if at, err := strconv.ParseFloat(fetched[1], 64); err != nil || at < float64(before) || at > float64(time.Now().Unix()+1) {
		t.Errorf("fetched at %s, %v", fetched[1], err)
	}
	log := s.log()
	for _, want := range []string{
		`"level":"ERROR","msg":"issuer keys not fetched","url":"` + p.url + `","cause":"the status of the response is 502`,
		`"msg":"not ready","listener":"admin","why":"no usable keys of the issuer","cause":"the status of the response is 502`,
		`"msg":"issuer keys fetched"`,
	} {
		if strings.Count(log, want) != 1 {
			t.Errorf("the log has not once %s:\n%s", want, log)
		}
	}
}
