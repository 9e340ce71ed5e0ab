package auth

import (
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
	"sync"
	"sync/atomic"
	"time"
)

// The times of an [Issuer].
const (
	// issuerTimeout bounds a fetch, up to the last byte of the answer.
	issuerTimeout = 5 * time.Second
	// issuerInterval is how often the set is fetched: a key that the issuer
	// has taken back is trusted no longer than that, if it can be reached.
	issuerInterval = 5 * time.Minute
	// issuerPause lies between two fetches that unknown keys give rise to.
	issuerPause = 30 * time.Second
)

// An Issuer is where the public keys of those who sign tokens are published, as a
// JWK Set behind a URL. It hands what it fetches to a [Verifier].
type Issuer struct {
	url     string
	shown   string // url as everybody may see it
	client  *http.Client
	publish func([]Key)
	logger  *slog.Logger

	begun atomic.Uint64 // fetches, which are numbered from 1

	mu        sync.Mutex
	published uint64        // the number of the fetch whose keys are in force
	fetching  chan struct{} // closed when the fetch in progress for unknown keys ends
	quiet     time.Time     // until when unknown keys give rise to no fetch
	told      []string      // why keys are left out
}

// NewIssuer returns the issuer at a URL that [CheckJWKSURL] has passed. Its keys become
// those of the verifier, beside what [Verifier.SetKeys] sets, whenever they are fetched.
func NewIssuer(address string, verifier *Verifier, logger *slog.Logger) *Issuer {
	i := &Issuer{url: address, shown: shownURL(address), publish: verifier.setIssued, logger: logger}
	i.client = &http.Client{Timeout: issuerTimeout, CheckRedirect: checkRedirect}
	verifier.issuer = i
	return i
}

// shownURL returns a URL without what may hold a secret, its user and its query (C4.25).
func shownURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return Redacted
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment = nil, "", false, ""
	return u.String()
}

// CheckJWKSURL refuses a URL by which others could slip in keys of their own: it
// must be https, or http to this machine, without a password that would be printed.
func CheckJWKSURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" || !trustworthy(u) {
		return errors.New("must be a URL such as https://issuer.example.com/jwks.json, without a password; " +
			"http only to this machine, since others on the way could change the keys")
	}
	return nil
}

func trustworthy(u *url.URL) bool {
	address := net.ParseIP(u.Hostname())
	return u.Scheme == "https" ||
		u.Scheme == "http" && (u.Hostname() == "localhost" || address != nil && address.IsLoopback())
}

// errRedirect is about a set that is somewhere else, where it cannot be trusted.
var errRedirect = errors.New("it redirects too often, or to plain http")

func checkRedirect(r *http.Request, via []*http.Request) error {
	const most = 3
	if len(via) > most || !trustworthy(r.URL) {
		return errRedirect
	}
	r.Header.Del("Referer") // the URL of before, and its query
	return nil
}

// Fetch fetches the set now. If that fails, the keys stay as they were. If it returns
// nil, those in force are not older than its call: it may overlap with other fetches.
func (i *Issuer) Fetch(ctx context.Context) error {
	number := i.begun.Add(1)
	keys, left, err := i.fetch(ctx)
	if err != nil {
		return fmt.Errorf("the keys of %s: %w", i.shown, err)
	}
	i.put(number, keys, left)
	return nil
}

func (i *Issuer) fetch(ctx context.Context) (keys []Key, left []error, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, i.url, http.NoBody)
	if err != nil {
		return nil, nil, shownFailure(err)
	}
	request.Header.Set("Accept", "application/jwk-set+json, application/json")
	answer, err := i.client.Do(request)
	if err != nil {
		return nil, nil, shownFailure(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("the status is %d, want 200", answer.StatusCode)
	}
	text, err := readAtMost(answer.Body)
	if err != nil {
		return nil, nil, shownFailure(err)
	}
	return parseJWKSet(text)
}

// errHidden stands for errors of net/http that may quote a header, a redirect or a proxy.
var errHidden = errors.New("what it answers, what it redirects to or HTTPS_PROXY is malformed, or a proxy refuses; curl --verbose shows it")

// shownFailure returns the error of a fetch if its text quotes nothing that may hold a
// secret, such as the query of a URL (C4.25), and else one that says less.
func shownFailure(err error) error {
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

// put publishes what a fetch has brought, unless one that began later has ended before it:
// a key that was taken back in between must not come into force again. It logs
// which keys are left out, if they are others than at the last time.
func (i *Issuer) put(number uint64, keys []Key, left []error) {
	var reasons []string
	for _, reason := range left {
		reasons = append(reasons, reason.Error())
	}
	i.mu.Lock()
	if number < i.published {
		i.mu.Unlock()
		return
	}
	i.published = number
	i.publish(keys)
	same := slices.Equal(reasons, i.told)
	i.told = reasons
	i.mu.Unlock()
	if !same && reasons != nil {
		i.logger.Warn("keys of the issuer are left out", "url", i.shown, "causes", reasons)
	}
}

// Watch fetches the set every five minutes, until ctx is done.
func (i *Issuer) Watch(ctx context.Context) {
	defer i.client.CloseIdleConnections()
	ticker := time.NewTicker(issuerInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			i.fetchOrLog(ctx)
		}
	}
}

func (i *Issuer) fetchOrLog(ctx context.Context) {
	if err := i.Fetch(ctx); err != nil && ctx.Err() == nil {
		i.logger.Error("the issuer's keys could not be fetched: those of before go on; see that JWT_JWKS_URL can be reached",
			"cause", err.Error())
	}
}

// renew fetches the set for a token of a key that is not in it. Whoever calls it
// while that goes on waits for the same fetch, and for [issuerPause] after its start
// there is no other: tokens with made-up keys cost the issuer nothing. It reports whether there
// was a fetch.
func (i *Issuer) renew() bool {
	i.mu.Lock()
	if fetching := i.fetching; fetching != nil {
		i.mu.Unlock()
		<-fetching
		return true
	}
	now := time.Now()
	if now.Before(i.quiet) {
		i.mu.Unlock()
		return false
	}
	fetching := make(chan struct{})
	i.fetching, i.quiet = fetching, now.Add(issuerPause)
	i.mu.Unlock()

	i.fetchOrLog(context.Background()) // the client bounds it; it is for all who wait, not for one request
	i.mu.Lock()
	i.fetching = nil
	i.mu.Unlock()
	close(fetching)
	return true
}
