package auth

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"plantstore/internal/loopback"
	"plantstore/models"
)

// The times of an issuer.
const (
	// issuerTimeout limits a fetch, including the response body.
	issuerTimeout = 5 * time.Second
	// issuerInterval is the time between fetches. A key that the issuer has
	// revoked stays trusted for at most that long if the issuer is reachable.
	issuerInterval = 5 * time.Minute
	// issuerRetry is the time between fetches while no key can be used.
	issuerRetry = 5 * time.Second
	// issuerPause is the minimum time between fetches caused by the same unknown kid, and
	// issuerBurst the number of such fetches in that time.
	issuerPause, issuerBurst = 30 * time.Second, 8
	// issuerPatience is the time without a successful fetch after which keys are removed.
	issuerPatience = 24 * time.Hour
)

// A fetchError is why a fetch failed. Its text is bounded, whatever the issuer sends.
type fetchError struct {
	cause error
	wrong bool // the response shows that the URL is wrong: another attempt would not help
}

func (e fetchError) Error() string { return models.ClientText(e.cause.Error()) }
func (e fetchError) Unwrap() error { return e.cause }

// maxKeySet is the maximum size in bytes of an issuer's response.
const maxKeySet = 1 << 20

// An issuer fetches the public keys of a token issuer, a JWK Set at a URL.
type issuer struct {
	url     string
	shown   string // url without its query, which may contain a secret (C4.25)
	client  *http.Client
	publish func([]boundKey) error
	logger  *slog.Logger

	// fetching has one element during a fetch. The fields below are only for it.
	fetching chan struct{}
	tried    time.Time            // end of the last fetch
	asked    map[string]time.Time // when an unknown kid caused a fetch

	given    atomic.Bool // the set has had keys
	mu       sync.Mutex  // guards the following
	stats    IssuerStats
	problem  error     // why no key can be used; nil: some can
	ignored  string    // why entries of the set are ignored, as last logged
	failure  error     // of the last fetch
	logged   string    // the last failure in the log; empty: none since the last success
	loggedAt time.Time // when it was logged
}

// IssuerStats are the state of the issuer's keys, and counts since the start.
type IssuerStats struct {
	Fetched  time.Time // end of the last successful fetch; zero: none yet
	Failures uint64    // fetches that failed
	Keys     int       // keys in use
}

// newIssuer returns the issuer at a URL. Each fetch publishes its keys.
func newIssuer(address string, publish func([]boundKey) error, logger *slog.Logger) *issuer {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	shown, _, _ := strings.Cut(address, "?")
	return &issuer{
		url: address, shown: shown, publish: publish, logger: logger, fetching: make(chan struct{}, 1), asked: map[string]time.Time{},
		client:  &http.Client{Timeout: issuerTimeout, CheckRedirect: checkRedirect},
		problem: errors.New("the keys have not been fetched yet"),
	}
}

// CheckJWKSURL rejects a URL unless it is https, or http to a loopback address, so that
// an attacker on the network cannot inject keys. It also rejects a password, which would
// be printed.
func CheckJWKSURL(text string) error {
	u, err := url.Parse(text)
	trusted := err == nil && (u.Scheme == "https" || u.Scheme == "http" && loopback.Is(u.Hostname()))
	if !trusted || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return errors.New("must be a URL such as https://issuer.example.com/jwks.json, without a password; " +
			"http only to this machine, since an attacker on the network could replace the keys")
	}
	return nil
}

// checkRedirect follows redirects only within the scheme, host and port of the configured
// URL: not from https to http, and not to hosts that the operator has not configured.
func checkRedirect(r *http.Request, via []*http.Request) error {
	const most = 3
	if len(via) > most || r.URL.Scheme != via[0].URL.Scheme || r.URL.Host != via[0].URL.Host {
		return fetchError{errors.New("it redirects too often, or to another scheme, host or port than the URL of the keys has: set that to the final URL"), true}
	}
	r.Header.Del("Referer") // its query may contain a secret
	return nil
}

// Start fetches the keys of the issuer for the first time. It fails if the response shows that
// [Options.JWKSURL] is wrong, and if ctx is done. After another failure [Verifier.Watch] tries again.
// Without an issuer it does nothing, as Watch and [Verifier.Fetch].
func (v *Verifier) Start(ctx context.Context) error {
	err := v.Fetch(ctx)
	if failure, _ := errors.AsType[fetchError](err); failure.wrong || ctx.Err() != nil {
		return err
	}
	return nil
}

// Fetch fetches the keys of the issuer now. If that fails, the previous keys stay in use for at most 24
// hours. A fetch begins when the previous one has ended, so that a slow one cannot bring back a key that
// was revoked meanwhile.
func (v *Verifier) Fetch(ctx context.Context) error {
	i := v.issuer
	if i == nil {
		return nil
	}
	i.fetching <- struct{}{} // for at most issuerTimeout
	defer func() { <-i.fetching }()
	return i.fetch(ctx)
}

// Watch fetches the keys of the issuer every five minutes, or every five seconds while none can be
// used, until ctx is done. It also logs a failure of [Verifier.Start]. Without it, new keys are found when
// a token names them, and revoked ones stay in use.
func (v *Verifier) Watch(ctx context.Context) {
	if v.issuer == nil {
		return
	}
	defer v.issuer.client.CloseIdleConnections()
	for {
		v.issuer.logFailure()
		interval := issuerInterval
		if v.Ready() != nil {
			interval = issuerRetry
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(interval):
		}
		_ = v.Fetch(ctx) // logged
	}
}

// Ready returns why no key of the issuer can be used, and nil if one can, or without an issuer.
func (v *Verifier) Ready() error {
	if v.issuer == nil {
		return nil
	}
	v.issuer.mu.Lock()
	defer v.issuer.mu.Unlock()
	return v.issuer.problem
}

// refresh fetches the set for a token with an unknown kid, or without one. Calls share a fetch that is in
// progress. So that tokens with made-up kids don't load the issuer, each kid causes one fetch in
// [issuerPause], and all of them [issuerBurst].
func (i *issuer) refresh(ctx context.Context, kid string) {
	arrived := time.Now()
	select {
	case i.fetching <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-i.fetching }()
	maps.DeleteFunc(i.asked, func(_ string, at time.Time) bool { return arrived.Sub(at) >= issuerPause })
	if _, recent := i.asked[kid]; recent || i.tried.After(arrived) || len(i.asked) >= issuerBurst {
		return
	}
	i.asked[kid] = time.Now()
	_ = i.fetch(context.WithoutCancel(ctx)) // for all waiting requests, limited by the client's timeout; logged
	i.logFailure()
}

// fetch replaces the keys, or records a failure. After [issuerPatience] without a success it removes them.
func (i *issuer) fetch(ctx context.Context) error {
	keys, ignored, err := i.replace(ctx)
	i.tried = time.Now()
	i.mu.Lock()
	defer i.mu.Unlock()
	if err == nil {
		i.succeed(keys, ignored)
		return nil
	}
	if broken, ok := errors.AsType[*net.OpError](err); ok {
		broken.Source = nil // its port would make another failure of the same one
	}
	failure, bounded := errors.AsType[fetchError](err)
	if !bounded {
		failure.cause = err
	}
	if ctx.Err() == nil {
		i.stats.Failures++
		if i.tried.Sub(i.stats.Fetched) >= issuerPatience {
			_ = i.publish(nil) // only keys can be refused
			i.stats.Keys, i.problem = 0, failure
		}
		i.failure = failure
	}
	return fmt.Errorf("the keys of %s: %w", i.shown, failure)
}

// succeed records a fetch. It logs keys that are ignored, and a set without any key that can be used, but
// not again at each fetch.
func (i *issuer) succeed(keys int, ignored []error) {
	if i.logged != "" {
		i.logger.Info("issuer keys fetched", "url", i.shown, "keys", keys)
	}
	i.stats.Fetched, i.stats.Keys = i.tried, keys
	i.problem, i.failure, i.logged = nil, nil, ""
	causes := models.ClientText(fmt.Sprint(ignored))
	changed := i.ignored != fmt.Sprint(keys == 0, causes)
	i.ignored = fmt.Sprint(keys == 0, causes)
	switch {
	case keys == 0:
		i.problem = errors.New("the set of the issuer has no usable keys")
		if changed {
			i.logger.Warn("issuer has no usable keys", "url", i.shown, "causes", causes, "hint", "all tokens of the issuer are refused")
		}
		return
	case len(ignored) > 0 && changed:
		i.logger.Warn("issuer keys ignored", "url", i.shown, "causes", causes)
	}
	i.given.Store(true)
}

// logFailure logs that the last fetch has failed, but the same failure only about every [issuerInterval].
func (i *issuer) logFailure() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.failure == nil || i.logged == i.failure.Error() && time.Since(i.loggedAt) < issuerInterval-issuerRetry/2 {
		return
	}
	i.logged, i.loggedAt = i.failure.Error(), time.Now()
	effect := "the previous keys stay in use for at most 24h"
	if i.problem != nil {
		effect = "all tokens of the issuer are refused"
	}
	i.logger.Error("issuer keys not fetched", "url", i.shown, "cause", i.logged, "effect", effect)
}

// replace publishes the keys of the set. It returns their number, and why others are ignored.
func (i *issuer) replace(ctx context.Context) (keys int, ignored []error, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, i.url, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	response, err := i.client.Do(request)
	if failure := new(url.Error); errors.As(err, &failure) {
		return 0, nil, explain(failure.Err) // without the query of the URL (C4.25)
	}
	defer response.Body.Close()
	if err := checkStatus(response.StatusCode); err != nil {
		return 0, nil, err
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxKeySet+1))
	switch {
	case err != nil:
		return 0, nil, err
	case len(text) > maxKeySet:
		return 0, nil, fetchError{fmt.Errorf("it has more than %d bytes", maxKeySet), true}
	}
	set, ignored, err := parseJSON(text)
	var bound []boundKey
	if err == nil {
		bound, err = bind(nil, set)
	}
	if err == nil {
		err = i.publish(bound)
	}
	if err != nil {
		return 0, nil, fetchError{err, true}
	}
	return len(bound), ignored, nil
}

// explain adds to an error that the authority of a certificate is unknown where it is looked for.
func explain(err error) error {
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown {
		bundle := cmp.Or(os.Getenv("SSL_CERT_FILE"), "the system's bundle, such as /etc/ssl/certs/ca-certificates.crt")
		return fmt.Errorf("%w: it is not in %s; name a bundle with it in the environment variable SSL_CERT_FILE, not in .env", err, bundle)
	}
	return err
}

// checkStatus rejects the status of a response other than 200. Unless it means that the server, a
// proxy or a limit of requests is in the way for a time, the URL is wrong.
func checkStatus(status int) error {
	if status == http.StatusOK {
		return nil
	}
	temporary := status >= 500 || status == http.StatusRequestTimeout || status == http.StatusTooEarly || status == http.StatusTooManyRequests
	return fetchError{fmt.Errorf("the status of the response is %d instead of 200", status), !temporary}
}
