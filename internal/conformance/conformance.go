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
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

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
	// Rules, if not empty, are the only rules whose cases are run, such as C2.12.
	Rules []string
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
	// Wire also runs the cases that most HTTP libraries decide before a handler runs: malformed HTTP, and
	// limits of the header.
	Wire bool
	// Slow also runs the cases that wait for the server's timeouts.
	Slow bool
	// RequestTimeout is the server's limit for reading a request; 0 means 30 s.
	RequestTimeout time.Duration
	// Wait is how long a run waits for a server that is starting.
	Wait time.Duration
	// Timeout is the maximum time for one response; 0 means 10 s.
	Timeout time.Duration
	// TLS is used for https; nil means the system's trust in certificates.
	TLS *tls.Config
	// Progress, if not nil, is called after each case, concurrently, with the number of all cases.
	Progress func(cases int)
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
	return run(ctx, o, slices.DeleteFunc(Cases(), func(c Case) bool { return len(o.Rules) > 0 && !slices.Contains(o.Rules, c.Rule) }))
}

func run(ctx context.Context, o Options, cases []Case) (Report, error) {
	r, err := newRunner(o)
	if err != nil {
		return Report{}, err
	}
	if err := r.await(ctx); err != nil {
		return Report{}, cmp.Or(ctx.Err(), err)
	}
	started := time.Now()
	report := Report{Target: o.URL, Started: started, Results: r.runAll(ctx, cases)}
	report.Seconds = time.Since(started).Seconds()
	if ctx.Err() == nil && r.silent.Load() >= mostSilent {
		return report, fmt.Errorf("%s has not responded in %d cases in a row; the last response was to %v: the run has ended", r.URL, mostSilent, r.last.Load())
	}
	return report, ctx.Err()
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
	case o.MaxBodyBytes < 0 || o.Timeout < 0 || o.RequestTimeout < 0 || o.Wait < 0:
		return nil, errors.New("limits and timeouts must not be negative")
	}
	_, err = rulesNamed(o.Rules)
	return u, err
}

// isOrigin reports whether text is a scheme and a host, perhaps with a port.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && u.Scheme+"://"+u.Host == text
}
