package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"plantstore/internal/loopback"
)

// The times of an [Issuer].
const (
	// issuerTimeout limits a fetch, including the response body.
	issuerTimeout = 5 * time.Second
	// issuerInterval is the time between fetches. A key that the issuer has
	// revoked stays trusted for at most that long if the issuer is reachable.
	issuerInterval = 5 * time.Minute
	// issuerRetry is the time between fetches while no key can be used.
	issuerRetry = 5 * time.Second
	// issuerPause is the minimum time between fetches caused by unknown keys.
	issuerPause = 30 * time.Second
	// issuerPatience is the time without a successful fetch after which keys are removed.
	issuerPatience = 24 * time.Hour
)

// A wrongURLError is returned for a response that shows that JWT_JWKS_URL is wrong: another attempt
// would not help.
type wrongURLError struct{ error }

func (e wrongURLError) Unwrap() error { return e.error }

// maxKeySet is the maximum size in bytes of an issuer's response.
const maxKeySet = 1 << 20

// An Issuer fetches the public keys of a token issuer, a JWK Set at a URL, for a
// [Verifier].
type Issuer struct {
	url     string
	shown   string // url without its query, which may contain a secret (C4.25)
	client  *http.Client
	publish func([]Key)
	logger  *slog.Logger

	// fetching has one element during a fetch. The fields below are only for it.
	fetching  chan struct{}
	tried     time.Time // end of the last fetch
	refreshAt time.Time // earliest next fetch for an unknown key
	state     string    // of the keys, as last logged

	mu       sync.Mutex // guards the following
	stats    IssuerStats
	problem  error     // why no key can be used; nil: some can
	failure  error     // of the last fetch
	logged   string    // the last failure in the log; empty: none since the last success
	loggedAt time.Time // when it was logged
}

// IssuerStats are the state of an [Issuer], and counts since the start.
type IssuerStats struct {
	Fetched  time.Time // end of the last successful fetch; zero: none yet
	Failures uint64    // fetches that failed
	Keys     int       // keys in use
}

// NewIssuer returns the issuer at a URL, which must pass [CheckJWKSURL]. Each fetch
// replaces its keys in the verifier; they add to the keys of [Verifier.SetKeys].
func NewIssuer(address string, verifier *Verifier, logger *slog.Logger) *Issuer {
	shown, _, _ := strings.Cut(address, "?")
	verifier.issuer = &Issuer{
		url: address, shown: shown, publish: verifier.setIssued, logger: logger, fetching: make(chan struct{}, 1),
		client:  &http.Client{Timeout: issuerTimeout, CheckRedirect: checkRedirect},
		problem: errors.New("the keys have not been fetched yet"),
	}
	return verifier.issuer
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
		return wrongURLError{errors.New("it redirects too often, or to another scheme, host or port than JWT_JWKS_URL has: set it to the final URL")}
	}
	r.Header.Del("Referer") // its query may contain a secret
	return nil
}

// Start fetches the set for the first time. It fails if the response shows that the URL is wrong,
// and if ctx is done. After another failure [Issuer.Watch] tries again.
func (i *Issuer) Start(ctx context.Context) error {
	err := i.Fetch(ctx)
	if wrong := (wrongURLError{}); errors.As(err, &wrong) || ctx.Err() != nil {
		return err
	}
	return nil
}

// Ready returns nil if there are keys that can be used, else why there are none.
func (i *Issuer) Ready() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.problem
}

// Stats returns the current statistics.
func (i *Issuer) Stats() IssuerStats {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stats
}

// Fetch fetches the set and publishes its keys. If that fails, the previous keys stay in
// use for at most [issuerPatience]. A fetch begins when the previous one has ended, so that a
// slow one cannot bring back a key that was revoked meanwhile.
func (i *Issuer) Fetch(ctx context.Context) error {
	i.fetching <- struct{}{} // for at most issuerTimeout
	defer func() { <-i.fetching }()
	return i.replace(ctx)
}

func (i *Issuer) replace(ctx context.Context) error {
	keys, ignored, err := i.get(ctx)
	i.tried = time.Now()
	if err == nil {
		i.publish(keys)
		i.logChange(keys, ignored)
		i.succeed(len(keys))
		return nil
	}
	if ctx.Err() == nil {
		i.fail(err)
	}
	return fmt.Errorf("the keys of %s: %w", i.shown, err)
}

func (i *Issuer) succeed(keys int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.logged != "" {
		i.logger.Info("issuer keys fetched", "url", i.shown, "keys", keys)
	}
	i.stats.Fetched, i.stats.Keys = i.tried, keys
	i.problem, i.failure, i.logged = nil, nil, ""
	if keys == 0 {
		i.problem = errors.New("the set of the issuer has no usable keys")
	}
}

// fail records a failed fetch. After [issuerPatience] without a successful one it removes the keys.
func (i *Issuer) fail(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stats.Failures++
	if i.tried.Sub(i.stats.Fetched) >= issuerPatience {
		i.publish(nil)
		i.stats.Keys, i.problem = 0, err
	}
	i.failure = err
}

// logChange logs keys that are ignored, and a set without any key that can be used, but not
// again at each fetch.
func (i *Issuer) logChange(keys []Key, ignored []error) {
	state := fmt.Sprint(len(keys) == 0, ignored)
	switch {
	case state == i.state:
	case len(keys) == 0:
		i.logger.Warn("issuer has no usable keys", "url", i.shown, "causes", fmt.Sprint(ignored), "hint", "all tokens of the issuer are refused")
	case len(ignored) > 0:
		i.logger.Warn("issuer keys ignored", "url", i.shown, "causes", fmt.Sprint(ignored))
	}
	i.state = state
}

// get returns the keys of the set, and why others are ignored.
func (i *Issuer) get(ctx context.Context) (keys []Key, ignored []error, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, i.url, http.NoBody)
	if err != nil {
		return nil, nil, err
	}
	response, err := i.client.Do(request)
	if failure := new(url.Error); errors.As(err, &failure) {
		return nil, nil, failure.Err // without the query of the URL (C4.25)
	}
	defer response.Body.Close()
	if err := checkStatus(response.StatusCode); err != nil {
		return nil, nil, err
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxKeySet+1))
	switch {
	case err != nil:
		return nil, nil, err
	case len(text) > maxKeySet:
		return nil, nil, wrongURLError{fmt.Errorf("it has more than %d bytes", maxKeySet)}
	}
	keys, ignored, err = parseJWKSet(text)
	if err != nil {
		return nil, nil, wrongURLError{err}
	}
	return keys, ignored, nil
}

// checkStatus rejects the status of a response other than 200. Unless it means that the server, a
// proxy or a limit of requests is in the way for a time, the URL is wrong.
func checkStatus(status int) error {
	err := fmt.Errorf("the status of the response is %d instead of 200", status)
	switch {
	case status == http.StatusOK:
		return nil
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests:
		return err
	}
	return wrongURLError{err}
}

// Watch fetches the set every [issuerInterval], or every [issuerRetry] while no key can be used,
// until ctx is done. It also logs a failure of [Issuer.Start].
func (i *Issuer) Watch(ctx context.Context) {
	defer i.client.CloseIdleConnections()
	i.logFailure()
	interval := i.interval()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		_ = i.Fetch(ctx) // logged
		i.logFailure()
		if now := i.interval(); now != interval {
			interval = now
			ticker.Reset(interval)
		}
	}
}

func (i *Issuer) interval() time.Duration {
	if i.Ready() != nil {
		return issuerRetry
	}
	return issuerInterval
}

// logFailure logs that the last fetch has failed, but the same failure only about every
// [issuerInterval].
func (i *Issuer) logFailure() {
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
	i.logger.Error("issuer keys not fetched", "url", i.shown, "cause", i.logged, "effect", effect, "hint", "check that JWT_JWKS_URL is reachable")
}

// refresh fetches the set for a token with an unknown key. Calls share a fetch that is in
// progress, and fetches begin at least [issuerPause] apart, so that tokens with made-up keys
// don't load the issuer.
func (i *Issuer) refresh() {
	asked := time.Now()
	i.fetching <- struct{}{}
	defer func() { <-i.fetching }()
	if i.tried.After(asked) || asked.Before(i.refreshAt) {
		return
	}
	i.refreshAt = time.Now().Add(issuerPause)
	ctx := context.Background() // shared by all waiting requests; limited by the client's timeout
	_ = i.replace(ctx)          // logged
	i.logFailure()
}
