package conformance

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/internal/certtest"
	"plantstore/internal/keys"
	"plantstore/internal/must"
	"plantstore/internal/server"
	"plantstore/internal/watchdog"
	"plantstore/middleware"
	"plantstore/middleware/auth"
	"plantstore/models"
	"plantstore/routes"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

func TestMain(m *testing.M) { watchdog.Main(m) }

const testSecret = "0123456789abcdef0123456789abcdef"

// patient and hasty are the timeouts of the server under test: so long that no other case reaches
// them, and short for the slow cases.
const (
	patient = time.Minute
	hasty   = 8 * time.Second
)

// docsOrigin is the allowed origin of most servers.
const docsOrigin = "https://docs.test"

// A setup is the configuration of the server under test.
type setup struct {
	signer    *keys.Signer        // of tokens; nil: the secret
	keys      []auth.Key          // that verify them
	authority *certtest.Authority // of its certificate; nil: it speaks plain HTTP
	timeout   time.Duration       // 0: patient
	origins   []string
	socket    string // the path of the Unix socket to listen on; empty: TCP
	rounds    bool   // ids to numbers of double precision, as servers in JavaScript do
}

// A rounding is a store that rounds ids.
type rounding struct{ routes.Store }

func (r rounding) Create(ctx context.Context, id int64, plant models.Plant) error {
	return r.Store.Create(ctx, int64(float64(id)), plant)
}

// start starts the server as the command serve does, on an empty store, and returns the options to check
// it with.
func (s setup) start(t testing.TB) Options {
	t.Helper()
	var secret auth.Secret
	tokens := auth.Options{Keys: s.keys}
	if s.signer == nil {
		secret = auth.Secret(testSecret)
		s.signer, tokens.Secrets = keys.HS256(secret), []auth.Secret{secret}
	}
	s.timeout = cmp.Or(s.timeout, patient)
	store := must.Get(bbolt.OpenFile(filepath.Join(t.TempDir(), "plants.db"), storage.Options{}))(t)
	network, address := "tcp", "127.0.0.1:0"
	if s.socket != "" {
		network, address = "unix", s.socket
	}
	listener := must.Get(new(net.ListenConfig).Listen(t.Context(), network, address))(t)
	host, serverTLS, clientTLS := listener.Addr().String(), (*tls.Config)(nil), (*tls.Config)(nil)
	if s.socket != "" {
		host = "localhost"
	}
	url := "http://" + host
	if s.authority != nil {
		url, serverTLS, clientTLS = "https://"+host, s.authority.Server(), s.authority.Client()
	}
	token := must.Get(s.signer.Issue(keys.Grant{Subject: "test"}, time.Now()))(t)
	var plants routes.Store = store
	if s.rounds {
		plants = rounding{store}
	}
	verifier := must.Get(auth.New(tokens))(t)
	logger := slog.New(slog.DiscardHandler)
	handler := must.Get(routes.New(routes.Options{
		Store: plants, Verify: verifier.Verify, BaseURL: url, Origins: s.origins,
	}))(t)
	under := server.New(server.Config{
		Handler: handler, TLS: serverTLS,
		Logger: logger, Refused: func(*models.Error, string, string) {}, HeaderTimeout: s.timeout, RequestTimeout: s.timeout, ShutdownTimeout: patient,
		CORS: middleware.Origins(s.origins).Header(""),
	})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- under.Serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return Options{
		Origin: strings.Join(s.origins, ","), TLS: clientTLS,
		URL: url, Socket: s.socket, Token: token, Secret: secret, FreshStore: true,
		RequestTimeout: s.timeout, Timeout: patient, Wire: true,
	}
}

// slowOrNot returns the cases that wait for timeouts, or all others.
func slowOrNot(slow bool) []Case {
	return slices.DeleteFunc(Cases(), func(c Case) bool { return (c.Needs&NeedSlow != 0) != slow })
}

// wantNoDeviation also checks that a case was skipped only if the server does not meet its
// requirements.
func wantNoDeviation(t *testing.T, o Options, cases []Case) {
	t.Helper()
	apart := []string{"needs a private key", "needs a server with a rate limit"}
	if o.Origin != "*" {
		apart = append(apart, "needs a server that allows all origins")
	}
	if o.TLS == nil {
		apart = append(apart, "needs an https URL")
	}
	report := must.Get(run(t.Context(), o, cases))(t)
	if report.Deviations() > 0 {
		var text bytes.Buffer
		must.Do(t, report.WriteText(&text))
		t.Errorf("the server deviates:\n%s", &text)
	}
	for _, r := range report.Results {
		if r.Outcome == NotRun && !slices.ContainsFunc(apart, func(part string) bool { return strings.Contains(r.Reason, part) }) {
			t.Errorf("%s %s was not run: %s", r.Rule, r.Name, r.Reason)
		}
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	o := setup{origins: []string{docsOrigin}}.start(t)
	wantNoDeviation(t, o, slowOrNot(false))
	o.FreshStore = false
	wantNoDeviation(t, o, slices.Concat(wellKnownIDs(), storeCases())) // a run can be repeated
}

// TestRoundedIDs checks that a server that rounds ids deviates, whatever ids its store has.
func TestRoundedIDs(t *testing.T) {
	t.Parallel()
	o := setup{rounds: true}.start(t)
	o.FreshStore, o.Rules = false, []string{"C2.13"}
	report, err := Run(t.Context(), o)
	if err != nil || report.Deviations() == 0 {
		t.Errorf("%d deviations, %v", report.Deviations(), err)
	}
}

// TestConformanceWithPrivateKey checks that the rules of the credential hold for tokens signed with a
// private key, too. Package auth has all kinds of keys.
func TestConformanceWithPrivateKey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "key")
	must.Do(t, os.WriteFile(path, []byte(certtest.PrivatePEM(t, certtest.Keys(t)[1])), 0o600))
	private := must.Get(keys.ReadPrivateKey(path, "EdDSA"))(t)
	private.SetKid("two")
	public, _, err := auth.ParseKeys(must.Get(private.PublicPEM())(t))
	must.Do(t, err)
	o := setup{signer: private, keys: public}.start(t)
	o.Key = private
	report := must.Get(run(t.Context(), o, slices.DeleteFunc(Cases(), func(c Case) bool { return !strings.HasPrefix(c.Rule, "C4.") })))(t)
	for _, r := range report.Results {
		if r.Outcome == Failed {
			t.Errorf("%s %s: %s, sent %q", r.Rule, r.Name, r.Reason, r.Sent)
		}
	}
	if skipped := report.tally("")[NotRun]; skipped > 10 {
		t.Errorf("%d of %d cases were not run", skipped, len(report.Results))
	}
}

// TestConformanceSlow checks the timeouts, also over TLS. e2e checks over TLS what TLS could change.
func TestConformanceSlow(t *testing.T) {
	t.Parallel()
	for name, authority := range map[string]*certtest.Authority{"HTTP": nil, "HTTPS": certtest.New(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := setup{authority: authority, timeout: hasty, origins: []string{docsOrigin}}.start(t)
			o.Slow = true
			wantNoDeviation(t, o, slowOrNot(true))
		})
	}
}

// TestConformanceCORS checks that with CORS off, no origin is allowed; with *, all are.
func TestConformanceCORS(t *testing.T) {
	t.Parallel()
	for origin, needless := range map[string]Need{"*": NeedForeign, "": NeedOrigin | NeedAll} {
		cases := slices.DeleteFunc(corsCases(), func(c Case) bool { return c.Needs&needless != 0 })
		wantNoDeviation(t, setup{origins: strings.Fields(origin)}.start(t), cases)
	}
}

// TestEveryCaseCanFail checks that each case fails for a response other than the expected one:
// otherwise it would be useless. TestRunFindsDeviations does so for the checks of every response.
func TestEveryCaseCanFail(t *testing.T) {
	t.Parallel()
	o := setup{origins: []string{docsOrigin}}.start(t)
	cases := slices.DeleteFunc(slowOrNot(false), func(c Case) bool { return c.Every != nil })
	for i := range cases {
		for j, exchange := range cases[i].Exchanges {
			exchange.Want = slices.Clone(exchange.Want)
			for k := range exchange.Want {
				exchange.Want[k] = contrary(exchange.Want[k])
			}
			cases[i].Exchanges = slices.Clone(cases[i].Exchanges)
			cases[i].Exchanges[j] = exchange
		}
	}
	report := must.Get(run(t.Context(), o, cases))(t)
	for _, r := range report.Results {
		if r.Outcome == Passed {
			t.Errorf("%s %s passes though the contrary is wanted", r.Rule, r.Name)
		}
	}
}

// contrary returns a response of another kind, or with other content.
func contrary(a Response) Response {
	switch {
	case a.Kind != KindJSON:
		return fern()
	case slices.Contains(a.Codes, 200) && len(a.Codes) == 1:
		a.Plant = slices.Clone(a.Plant)
		a.Plant[0].Text += "x"
	default:
		a.Codes = []int{418}
	}
	return a
}
