package conformance

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/time/rate"
)

// A runner runs cases. It holds the options with their defaults, and values derived
// from them.
type runner struct {
	Options
	network string // network to dial
	address string // host:port to dial, or the path of a socket
	values  values // the same for all cases
	cases   int
	pace    *rate.Limiter
	silent  atomic.Int64 // cases in a row without a response: the connection was refused, or time was up
	last    atomic.Value // the last case with a response, as text
	failed  atomic.Bool  // a case has failed
	every   []*everyCheck
}

// betweenProbes is the pause between two probes of a server that is starting.
const betweenProbes = time.Second / 4

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
	case !responded && (errors.Is(err, syscall.ECONNREFUSED) || ok && timeout.Timeout()):
		r.silent.Add(1)
	case r.silent.Load() < mostSilent: // else the run has ended
		r.silent.Store(0)
	}
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
	r.last.Store("the first request")
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

// await probes the server, again and again for the time Wait as long as it is starting.
func (r *runner) await(ctx context.Context) error {
	for end := time.Now().Add(r.Wait); ; {
		starting, err := r.probe(ctx)
		if !starting || time.Now().After(end) {
			return err
		}
		select {
		case <-time.After(betweenProbes):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// probe returns an error if the server cannot be checked at all, and whether it may still be starting.
func (r *runner) probe(ctx context.Context) (starting bool, err error) {
	all, err := r.exchange(ctx, one("", "", post(`{"id":{{id}},"name":"probe"}`), plant("probe")).Exchanges[0], r.values)
	h := append(all, received{})[0] // empty if there is no response
	status, location := h.status, r.values.redact(h.header.Get("Location"))
	code, message, _ := h.failure()
	_, untrusted := errors.AsType[x509.UnknownAuthorityError](err)
	switch {
	case slices.Contains([]int{401, 403}, cmp.Or(code, status)):
		return false, fmt.Errorf("%s refuses the token given: %s", r.URL, cmp.Or(r.values.redact(message), fmt.Sprintf("status %d", status)))
	case untrusted:
		return false, fmt.Errorf("%s: %w: give the authority with --ca-file", r.URL, err)
	case status != http.StatusOK && r.speaksTLS(ctx):
		return false, fmt.Errorf("%s uses TLS: give a URL with https", r.URL)
	case len(all) == 0:
		return true, fmt.Errorf("%s does not respond: %w", r.URL, err)
	case status/100 == 3:
		return false, fmt.Errorf("%s has no POST /plants (status %d to %q): is the URL right?", r.URL, status, location)
	case status == http.StatusNotFound || code == 404 || code == 405:
		return false, fmt.Errorf("%s has no POST /plants (%d): is the URL right?", r.URL, cmp.Or(code, status))
	case status > http.StatusInternalServerError || code == 503: // of a proxy, or of the server itself
		return true, nil
	}
	return false, r.probeSigner(ctx)
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
	if code, message, _ := received[0].failure(); code == 401 {
		return fmt.Errorf("%s refuses a token that is signed with the secret or the private key given: %s", r.URL, r.values.redact(message))
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
	r.cases = len(cases)
	every := map[int]*everyCheck{}
	for i, c := range cases {
		if c.Every != nil {
			every[i] = &everyCheck{Case: c}
			r.every = append(r.every, every[i])
		}
	}
	slots := make(chan struct{}, workers)
	var wg sync.WaitGroup
	for i, c := range cases {
		if c.Exceeds || c.Every != nil {
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
	for i, e := range every {
		results[i] = e.result(r.ended(ctx))
	}
	return results
}

// reasonEnded is the reason of the cases after the end of the run.
const reasonEnded = "the run had ended"

// runCase runs one case and returns its outcome.
func (r *runner) runCase(ctx context.Context, c Case, v values) Result {
	if r.Progress != nil {
		defer r.Progress(r.cases)
	}
	result := Result{Rule: c.Rule, Name: c.Name, Outcome: NotRun}
	if result.Reason, result.RunWith = r.missing(c.Needs); result.Reason != "" {
		return result
	}
	if r.ended(ctx) {
		result.Reason = reasonEnded
		return result
	}
	started := time.Now()
	received, err := r.perform(ctx, c, v)
	seconds := time.Since(started).Seconds()
	applicable := !errors.Is(err, errNotApplicable)
	if applicable {
		if len(received) > 0 {
			r.last.Store(c.Rule + ": " + c.Name)
		}
		r.countSilent(len(received) > 0, err)
	}
	switch {
	case !applicable:
		result.Reason = err.Error()
	case err == nil:
		result.Outcome = Passed
	case ctx.Err() != nil: // the interrupt may have caused the deviation
		result.Reason = reasonEnded
	case !r.limited() && slices.ContainsFunc(received, isRateLimited):
		result.Reason, result.RunWith = reasonRateLimited, flagRateLimit
	default:
		r.failed.Store(true)
		result = deviation{c, v, received, err}.result()
	}
	result.Seconds = seconds
	return result
}

// A deviation is an error in the responses of a case.
type deviation struct {
	c   Case
	v   values
	got []received
	err error
}

func (d deviation) result() Result {
	shown := d.v.shown()
	result := Result{
		Rule: d.c.Rule, Name: d.c.Name, Outcome: Failed, Reason: d.v.redact(d.err.Error()),
		Sent: d.c.sent(shown), Wanted: d.c.wanted(shown),
	}
	for _, h := range d.got {
		result.Got = append(result.Got, h.describe(d.v))
	}
	return result
}

// check compares a response of a case with the expected one, and runs the checks of every response.
func (r *runner) check(c Case, v values, h received, a Response) error {
	for _, e := range r.every {
		if e.observe(c, v, h, a) {
			r.failed.Store(true)
		}
	}
	return h.check(a, v, r.FreshStore)
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
		{NeedWire, "wire", func(r *runner) bool { return r.Wire }, "checks what HTTP libraries decide; run only on request", "--level wire"},
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
			refused, err := r.exceed(ctx, c, v)
			all = append(all, refused)
			if err != nil {
				return all, err
			}
			continue
		}
		if i == 0 && c.Racing > 0 {
			received, err := r.race(ctx, c, v)
			all = append(all, received...)
			if err != nil {
				return all, err
			}
			continue
		}
		received, err := r.exchange(ctx, t, v)
		for j, h := range received[:min(len(received), len(t.Want))] {
			if e := r.check(c, v, h, t.Want[j]); e != nil {
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
