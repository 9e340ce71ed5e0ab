// Package conformance defines the contract of a plant store as a table of cases, and
// checks servers in any language against it.
//
// A case defines the request, byte for byte, and the expected response. The table has
// three uses: go test checks the server of this module, the command conformance checks a
// server at a URL, and the published document is generated from it.
package conformance

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/time/rate"

	"plantstore/internal/ratelimit"
)

// Options describe the server under test. URL and Token are required. Other empty fields
// have the contract's default, or the cases that need them are reported as not run.
type Options struct {
	// URL is the base URL, such as http://127.0.0.1:8080: scheme http or https, a host, and
	// perhaps a path, below which /plants is expected.
	URL string
	// Token is a credential that the server accepts.
	Token string
	// Secret is the server's HS256 secret. Cases that need a correctly signed token with
	// unusual contents are run only with it.
	Secret []byte
	// Key signs in place of Secret on servers that accept tokens by a public
	// key. At most one of the two is given.
	Key Key
	// Rule, if not empty, is the only rule whose cases are run, such as C2.12.
	Rule string
	// FailFast ends the run at the first deviation.
	FailFast bool
	// FreshStore promises that the store is empty, so that creates under
	// well-known ids must succeed rather than find the id taken.
	FreshStore bool
	// Origin is an origin that the server allows for CORS, if any; "*" means
	// that it allows all.
	Origin string
	// MaxBodyBytes is the server's limit of a body; 0 means 1 MiB.
	MaxBodyBytes int
	// RequireExp means that the server refuses tokens without exp.
	RequireExp bool
	// RateLimit is the server's limit of requests of a client; the zero value means none. The
	// run stays below it, except for the cases at its end that exceed it.
	RateLimit ratelimit.Rate
	// Slow also runs the cases that wait for the server's timeouts.
	Slow bool
	// RequestTimeout is the server's limit for reading a request; 0 means 30 s.
	RequestTimeout time.Duration
	// Timeout is the maximum time for one response; 0 means 10 s.
	Timeout time.Duration
	// TLS is used for https; nil means the system's trust in certificates.
	TLS *tls.Config
	// Socket, if not empty, is the path of the Unix socket to connect to, instead of the
	// host of URL.
	Socket string
}

// A Key is a private key whose tokens the server accepts.
type Key interface {
	Alg() string // such as RS256
	Kid() string // empty for none
	Sign(text string) (signature []byte, err error)
	PublicPEM() ([]byte, error) // the public key
}

// workers is the number of concurrent cases: enough for a short run, without overloading
// the server.
const workers = 8

// Run runs every case of [Cases] against the server and returns the outcomes in
// the table's order. It returns an error if no case can be run: the options are
// invalid, the server cannot be reached, or it refuses the token. With the report so far it returns
// an error if the server no longer responds, or if ctx is done. Deviations are not an error; see
// [Report.Deviations].
func Run(ctx context.Context, o Options) (Report, error) {
	return run(ctx, o, slices.DeleteFunc(Cases(), func(c Case) bool { return o.Rule != "" && c.Rule != o.Rule }))
}

func run(ctx context.Context, o Options, cases []Case) (Report, error) {
	r, err := newRunner(o)
	if err != nil {
		return Report{}, err
	}
	if err := r.probe(ctx); err != nil {
		return Report{}, cmp.Or(ctx.Err(), err)
	}
	started := time.Now()
	report := Report{Target: o.URL, Started: started, Results: r.runAll(ctx, cases)}
	report.Seconds = time.Since(started).Seconds()
	if ctx.Err() == nil && r.silent.Load() >= mostSilent {
		return report, fmt.Errorf("%s has not responded in %d cases in a row: the run has ended", r.URL, mostSilent)
	}
	return report, ctx.Err()
}

// A runner runs cases. It holds the options with their defaults, and values derived
// from them.
type runner struct {
	Options
	network string // network to dial
	address string // host:port to dial, or the path of a socket
	values  values // the same for all cases
	pace    *rate.Limiter
	silent  atomic.Int64 // cases in a row without a response: the connection was refused, or time was up
	failed  atomic.Bool  // a case has failed
}

// mostSilent is the number of cases in a row without a response that end a run.
const mostSilent = 10

// ended reports whether the run ends before all cases are run.
func (r *runner) ended(ctx context.Context) bool {
	return ctx.Err() != nil || r.silent.Load() >= mostSilent || r.FailFast && r.failed.Load()
}

// countSilent counts a case in silent, or ends the row.
func (r *runner) countSilent(responded bool, err error) {
	timeout, ok := errors.AsType[net.Error](err)
	switch {
	case responded:
		r.silent.Store(0)
	case errors.Is(err, syscall.ECONNREFUSED), ok && timeout.Timeout():
		r.silent.Add(1)
	case r.silent.Load() < mostSilent:
		r.silent.Store(0)
	}
}

// Validate returns an error if the options are invalid.
func (o *Options) Validate() error {
	_, err := o.validate()
	return err
}

// validate is Validate, and returns the URL as well.
func (o *Options) validate() (*url.URL, error) {
	u, err := url.Parse(o.URL)
	switch {
	case o.URL == "":
		return nil, errors.New("the URL of a server is needed: --url http://127.0.0.1:8080")
	case err != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return nil, fmt.Errorf("URL %q: want http://host or https://host, perhaps with a port and a path", o.URL)
	case o.Token == "":
		return nil, errors.New("a token is needed: TOKEN in the environment, or --token-file")
	case o.Origin != "" && o.Origin != "*" && !isOrigin(o.Origin):
		return nil, fmt.Errorf("origin %q: want *, or an origin such as https://docs.example.com", o.Origin)
	case o.MaxBodyBytes < 0 || o.Timeout < 0 || o.RequestTimeout < 0:
		return nil, errors.New("limits and timeouts must not be negative")
	}
	_, err = rulesNamed(o.Rule)
	return u, err
}

// isOrigin reports whether text is a scheme and a host, perhaps with a port.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && u.Scheme+"://"+u.Host == text
}

func newRunner(o Options) (*runner, error) {
	u, err := o.validate()
	if err != nil {
		return nil, err
	}
	setDefault(&o.MaxBodyBytes, 1<<20)
	setDefault(&o.RequestTimeout, 30*time.Second)
	setDefault(&o.Timeout, 10*time.Second)
	origin := o.Origin
	if origin == "*" {
		origin = nowhere
	}
	r := &runner{Options: o, network: "tcp", address: u.Host, pace: paceBelow(o.RateLimit)}
	switch {
	case o.Socket != "":
		r.network, r.address = "unix", o.Socket
	case u.Port() == "":
		r.address = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	r.values = values{
		host: u.Host, scheme: u.Scheme, path: strings.TrimSuffix(u.EscapedPath(), "/"),
		origin: origin, allowed: o.Origin,
		token: o.Token, secret: o.Secret, claims: claimsOf(o.Token),
		maxBody: o.MaxBodyBytes, firstID: randomID(),
	}
	if o.Key != nil {
		if r.values.public, err = o.Key.PublicPEM(); err != nil {
			return nil, err
		}
		r.values.key = o.Key
	}
	return r, nil
}

func setDefault[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}

// randomID returns the first id of a run, in [2^52, 2^53): the ids of two runs do not
// overlap, and an id times 100 is still an int64.
func randomID() int64 {
	var b [8]byte
	rand.Read(b[:])
	return 1<<52 + int64(binary.BigEndian.Uint64(b[:])>>12)
}

// probe returns an error if the server cannot be checked at all.
func (r *runner) probe(ctx context.Context) error {
	received, err := r.exchange(ctx, one("", "", post(`{"id":{{id}},"name":"probe"}`), plant("probe")).Exchanges[0], r.values)
	var code int
	var message string
	if len(received) > 0 {
		code, message = received[0].failure()
	}
	switch {
	case code == 401 || code == 403:
		return fmt.Errorf("%s refuses the token given: %s", r.URL, message)
	case (len(received) == 0 || received[0].status != http.StatusOK) && r.speaksTLS(ctx):
		return fmt.Errorf("%s uses TLS: give a URL with https", r.URL)
	case len(received) == 0:
		return fmt.Errorf("%s does not respond: %w", r.URL, err)
	case received[0].status == http.StatusNotFound || code == 404 || code == 405:
		return fmt.Errorf("%s has no POST /plants (status %d, error %d): is the URL right?", r.URL, received[0].status, code)
	}
	return r.probeSigner(ctx)
}

// probeSigner returns an error if the server refuses tokens signed with the secret or the
// private key.
func (r *runner) probeSigner(ctx context.Context) error {
	if len(r.Secret) == 0 && r.Key == nil {
		return nil
	}
	received, _ := r.exchange(ctx, one("", "", good().bearing(Token{}), fern()).Exchanges[0], r.values)
	if len(received) == 0 {
		return nil
	}
	if code, message := received[0].failure(); code == 401 {
		return fmt.Errorf("%s refuses a token that is signed with the secret or the private key given: %s", r.URL, message)
	}
	return nil
}

// speaksTLS reports whether the server uses TLS although its URL begins with http.
func (r *runner) speaksTLS(ctx context.Context) bool {
	if r.values.scheme != "http" {
		return false
	}
	secure := runner{Options: r.Options, network: r.network, address: r.address, values: r.values}
	secure.values.scheme = "https"
	secure.TLS = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true} //nolint:gosec // nothing is sent
	l, err := secure.dial(ctx, false)
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}

// runAll runs the cases, at most workers at a time, those that exceed the rate limit last. Slow
// cases mostly wait, so they do not count.
func (r *runner) runAll(ctx context.Context, cases []Case) []Result {
	results := make([]Result, len(cases))
	slots := make(chan struct{}, workers)
	var wg sync.WaitGroup
	for i, c := range cases {
		if c.Exceeds {
			continue
		}
		if c.Needs&NeedSlow == 0 {
			slots <- struct{}{}
		}
		wg.Go(func() {
			results[i] = r.runCase(ctx, c, r.values.forCase(i))
			if c.Needs&NeedSlow == 0 {
				<-slots
			}
		})
	}
	wg.Wait()
	for i, c := range cases {
		if c.Exceeds {
			results[i] = r.runCase(ctx, c, r.values.forCase(i))
		}
	}
	return results
}

// reasonEnded is the reason of the cases after the end of the run.
const reasonEnded = "the run had ended"

// runCase runs one case and returns its outcome.
func (r *runner) runCase(ctx context.Context, c Case, v values) Result {
	result := Result{Rule: c.Rule, Name: c.Name, Outcome: Passed}
	if reason, flags := r.missing(c.Needs); reason != "" {
		result.Outcome, result.Reason, result.RunWith = NotRun, reason, flags
		return result
	}
	if r.ended(ctx) {
		result.Outcome, result.Reason = NotRun, reasonEnded
		return result
	}
	started := time.Now()
	received, err := r.perform(ctx, c, v)
	result.Seconds = time.Since(started).Seconds()
	if errors.Is(err, errNotApplicable) {
		result.Outcome, result.Reason = NotRun, err.Error()
		return result
	}
	r.countSilent(len(received) > 0, err)
	if err == nil {
		return result
	}
	if ctx.Err() != nil { // the interrupt may have caused the deviation
		result.Outcome, result.Reason = NotRun, reasonEnded
		return result
	}
	if !r.limited() && slices.ContainsFunc(received, isRateLimited) {
		result.Outcome, result.Reason, result.RunWith = NotRun, reasonRateLimited, flagRateLimit
		return result
	}
	r.failed.Store(true)
	result.Outcome, result.Reason = Failed, v.redact(err.Error())
	result.Sent, result.Wanted = c.sent(v.shown()), c.wanted(v.shown())
	for _, h := range received {
		result.Got = append(result.Got, v.redact(h.String()))
	}
	return result
}

// A requirement is the description of a [Need].
type requirement struct {
	Need

	name   string // in a list of cases
	met    func(*runner) bool
	reason string // why a case is not run without it
	flag   string // of plantstore conformance
}

func needs() []requirement {
	return []requirement{
		{NeedSecret, "secret", func(r *runner) bool { return len(r.Secret) > 0 || r.Key != nil }, "needs the HS256 secret, or a private key", "--secret-file or --key"},
		{NeedSlow, "slow", func(r *runner) bool { return r.Slow }, "waits for timeouts; run only on request", "--slow"},
		{NeedTLS, "TLS", func(r *runner) bool { return r.values.scheme == "https" }, "needs an https URL", "--url https://..."},
		{NeedOrigin, "origin", func(r *runner) bool { return r.Origin != "" }, "needs an origin that the server allows", "--origin"},
		{NeedForeign, "foreign", func(r *runner) bool { return r.Origin != "*" }, "needs an origin that the server does not allow", "--origin"},
		{NeedKey, "key", func(r *runner) bool { return r.Key != nil }, "needs a private key", "--key"},
		{NeedNoExp, "no exp", func(r *runner) bool { return !r.RequireExp }, "needs a server that accepts tokens without exp", ""},
		{NeedAll, "all origins", func(r *runner) bool { return r.Origin == "*" }, "needs a server that allows all origins", "--origin '*'"},
		{NeedLimit, "limit", (*runner).limited, "needs a server with a rate limit", flagRateLimit},
	}
}

// missing returns the requirements of a case that the options lack, or "", and the flags that
// would meet them.
func (r *runner) missing(n Need) (reason, flags string) {
	var reasons, with []string
	for _, need := range needs() {
		if n&need.Need == 0 || need.met(r) {
			continue
		}
		reasons = append(reasons, need.reason)
		if need.flag != "" {
			with = append(with, need.flag)
		}
	}
	return strings.Join(reasons, "; "), strings.Join(with, " and ")
}

// perform runs the exchanges of a case in order and checks the responses. It ends at the
// first deviation.
func (r *runner) perform(ctx context.Context, c Case, v values) ([]received, error) {
	var all []received
	for i, t := range c.Exchanges {
		if i == 0 && c.Exceeds {
			refused, err := r.exceed(ctx, t, v)
			all = append(all, refused)
			if err != nil {
				return all, err
			}
			continue
		}
		if i == 0 && c.Racing > 0 {
			received, err := r.race(ctx, t, c.Racing, v)
			all = append(all, received...)
			if err != nil {
				return all, err
			}
			continue
		}
		received, err := r.exchange(ctx, t, v)
		for j, h := range received[:min(len(received), len(t.Want))] {
			if e := h.check(t.Want[j], v, r.FreshStore); e != nil {
				return append(all, received...), fmt.Errorf("response %d: %w", len(all)+j+1, e)
			}
		}
		all = append(all, received...)
		if err != nil {
			return all, err
		}
	}
	return all, checkTogether(c, all)
}
