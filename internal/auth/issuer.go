package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
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

	mu       sync.Mutex
	fetching chan struct{} // closed when the fetch in progress ends
	quiet    time.Time     // until when unknown keys give rise to no fetch
	told     []string      // why keys are left out
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

func checkRedirect(r *http.Request, via []*http.Request) error {
	const most = 3
	if len(via) > most || !trustworthy(r.URL) {
		return errors.New("it redirects too often, or to plain http")
	}
	return nil
}

// Fetch fetches the set now. If that fails, the keys stay as they were.
func (i *Issuer) Fetch(ctx context.Context) error {
	keys, left, err := i.fetch(ctx)
	if err != nil {
		return fmt.Errorf("the keys of %s: %w", i.shown, err)
	}
	i.tell(left)
	i.publish(keys)
	return nil
}

func (i *Issuer) fetch(ctx context.Context) (keys []Key, left []error, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, i.url, http.NoBody)
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Accept", "application/jwk-set+json, application/json")
	answer, err := i.client.Do(request)
	if err != nil {
		if failure := new(url.Error); errors.As(err, &failure) {
			err = failure.Err // without the URL again
		}
		return nil, nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("the status is %d, want 200", answer.StatusCode)
	}
	text, err := readAtMost(answer.Body)
	if err != nil {
		return nil, nil, err
	}
	return parseJWKSet(text)
}

// tell logs which keys are left out, if they are others than at the last time.
func (i *Issuer) tell(left []error) {
	var reasons []string
	for _, reason := range left {
		reasons = append(reasons, reason.Error())
	}
	i.mu.Lock()
	same := slices.Equal(reasons, i.told)
	i.told = reasons
	i.mu.Unlock()
	if !same {
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
