package auth

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"plantstore/internal/wait"
)

// The times of an [Issuer].
const (
	// issuerTimeout limits a fetch, including the response body.
	issuerTimeout = 5 * time.Second
	// issuerInterval is the time between fetches. A key that the issuer has
	// revoked stays trusted for at most that long if the issuer is reachable.
	issuerInterval = 5 * time.Minute
	// issuerPause is the minimum time between fetches caused by unknown keys.
	issuerPause = 30 * time.Second
)

// An Issuer fetches the public keys of a token issuer, a JWK Set at a URL, for a
// [Verifier].
type Issuer struct {
	url     string
	shown   string // url without its query, which may contain a secret (C4.25)
	client  *http.Client
	publish func([]Key)
	logger  *slog.Logger

	// fetching has one element while a fetch is in progress. The fields below are only for it.
	fetching  chan struct{}
	fetched   time.Time // end of the last fetch
	refreshAt time.Time // earliest next fetch for an unknown key
	ignored   []string  // reasons for ignored keys, as last logged
}

// NewIssuer returns the issuer at a URL, which must pass [CheckJWKSURL]. Each fetch
// replaces its keys in the verifier; they add to the keys of [Verifier.SetKeys].
func NewIssuer(address string, verifier *Verifier, logger *slog.Logger) *Issuer {
	shown, _, _ := strings.Cut(address, "?")
	i := &Issuer{url: address, shown: shown, publish: verifier.setIssued, logger: logger, fetching: make(chan struct{}, 1)}
	i.client = &http.Client{Timeout: issuerTimeout, CheckRedirect: checkRedirect}
	verifier.issuer = i
	return i
}

// CheckJWKSURL rejects a URL unless it is https, or http to a loopback address, so that
// an attacker on the network cannot inject keys. It also rejects a password, which would
// be printed.
func CheckJWKSURL(text string) error {
	u, err := url.Parse(text)
	trusted := err == nil && (u.Scheme == "https" || u.Scheme == "http" && (strings.EqualFold(u.Hostname(), "localhost") || net.ParseIP(u.Hostname()).IsLoopback()))
	if !trusted || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return errors.New("must be a URL such as https://issuer.example.com/jwks.json, without a password; " +
			"http only to this machine, since an attacker on the network could replace the keys")
	}
	return nil
}

// errRedirect is returned for a redirect to an origin that is not trusted.
var errRedirect = errors.New("it redirects too often, or to another scheme, host or port than JWT_JWKS_URL has: set it to the final URL")

// checkRedirect follows redirects only within the origin of the configured URL: not from
// https to http, not to services on this machine, and not to hosts that the operator has
// not configured.
func checkRedirect(r *http.Request, via []*http.Request) error {
	const most = 3
	if len(via) > most || origin(r.URL) != origin(via[0].URL) {
		return errRedirect
	}
	r.Header.Del("Referer") // its query may contain a secret
	return nil
}

// origin returns the scheme, host and port of a URL in a comparable form (RFC 6454,
// section 4).
func origin(u *url.URL) string {
	defaultPort := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), cmp.Or(u.Port(), defaultPort))
}

// Fetch fetches the set and publishes its keys. If that fails, the previous keys stay in
// use. A fetch begins when the previous one has ended, so that a slow one cannot bring back
// a key that was revoked meanwhile.
func (i *Issuer) Fetch(ctx context.Context) error {
	i.fetching <- struct{}{} // for at most issuerTimeout
	defer func() { <-i.fetching }()
	return i.replace(ctx)
}

// replace replaces the keys in use by those of the issuer, and logs the ignored ones if
// they have changed.
func (i *Issuer) replace(ctx context.Context) error {
	keys, ignored, err := i.fetch(ctx)
	i.fetched = time.Now()
	if err != nil {
		return fmt.Errorf("the keys of %s: %w", i.shown, err)
	}
	i.publish(keys)
	var reasons []string
	for _, reason := range ignored {
		reasons = append(reasons, reason.Error())
	}
	if reasons != nil && !slices.Equal(reasons, i.ignored) {
		i.logger.Warn("issuer keys ignored", "url", i.shown, "causes", reasons)
	}
	i.ignored = reasons
	return nil
}

func (i *Issuer) fetch(ctx context.Context) (keys []Key, ignored []error, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, i.url, http.NoBody)
	if err != nil {
		return nil, nil, shownError(err)
	}
	request.Header.Set("Accept", "application/jwk-set+json, application/json")
	response, err := i.client.Do(request)
	if err != nil {
		return nil, nil, shownError(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("the status of the response is %d instead of 200", response.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxKeyFile+1))
	if err == nil && len(text) > maxKeyFile {
		err = errTooLong
	}
	if err != nil {
		return nil, nil, shownError(err)
	}
	return parseJWKSet(text)
}

// errTooLong is returned for a response of more than maxKeyFile bytes.
var errTooLong = fmt.Errorf("it has more than %d bytes", maxKeyFile)

// errHidden replaces errors of net/http that may quote a header, a redirect or a proxy.
var errHidden = errors.New("the response, its redirect or HTTPS_PROXY is malformed, or a proxy refuses; for details run curl --verbose")

// shownError returns the error of a fetch, or errHidden if its text may quote a secret,
// such as the query of a URL (C4.25).
func shownError(err error) error {
	for failure := new(url.Error); errors.As(err, &failure); {
		err = failure.Err // without the URL
	}
	network, certificate := net.Error(nil), new(tls.CertificateVerificationError)
	plain := []error{errRedirect, errTooLong, context.Canceled, io.EOF, io.ErrUnexpectedEOF, http.ErrSchemeMismatch}
	if errors.As(err, &network) || errors.As(err, &certificate) ||
		slices.ContainsFunc(plain, func(one error) bool { return errors.Is(err, one) }) {
		return err
	}
	return errHidden
}

// Watch fetches the set every [issuerInterval], until ctx is done.
func (i *Issuer) Watch(ctx context.Context) {
	defer i.client.CloseIdleConnections()
	wait.Every(ctx, issuerInterval, func() { i.logFailure(ctx, i.Fetch(ctx)) })
}

func (i *Issuer) logFailure(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		i.logger.Error("issuer keys not fetched, keeping the previous keys",
			"cause", err.Error(), "hint", "check that JWT_JWKS_URL is reachable")
	}
}

// refresh fetches the set for a token with an unknown key. Calls share a fetch that is in
// progress, and fetches begin at least [issuerPause] apart, so that tokens with made-up keys
// don't load the issuer.
func (i *Issuer) refresh() {
	asked := time.Now()
	i.fetching <- struct{}{}
	defer func() { <-i.fetching }()
	if i.fetched.After(asked) || asked.Before(i.refreshAt) {
		return
	}
	i.refreshAt = time.Now().Add(issuerPause)
	ctx := context.Background() // shared by all waiting requests; limited by the client's timeout
	i.logFailure(ctx, i.replace(ctx))
}
