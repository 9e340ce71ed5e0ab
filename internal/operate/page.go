package operate

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"plantstore/models"
)

//go:embed page
var pageFiles embed.FS

const (
	// readTime limits the time for a request of the page, and countTime for counting plants: some
	// engines read all of them.
	readTime  = 5 * time.Second
	countTime = time.Minute
)

// policy forbids the page everything except its own files. Trusted types make the browser refuse
// a script that would parse a name as HTML.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// An OpenFunc opens the backend for a request, which calls release afterwards. A file is not locked
// between requests, so a server can start at any time; later requests then use the server.
type OpenFunc func(ctx context.Context) (backend Backend, release func() error, err error)

// A Site is the page and its listener.
//
// The link to the page contains a random key in its fragment, which browsers don't send. The script of the
// page sends the key in the header field Authorization. A cookie would be less private: browsers send it
// to every port of the address, and so to other servers. Each request does a bounded amount of work,
// however many plants there are, except for a count by an engine that must read all plants; the page
// pauses after it.
type Site struct {
	open     OpenFunc
	key      string
	listener net.Listener
}

// ListenPage listens on a port of a loopback address, 0 for any free port. The caller must call Run.
func ListenPage(ctx context.Context, port int, open OpenFunc) (*Site, error) {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w", address, cmp.Or(errors.Unwrap(err), err)) // which has the address, too
	}
	return &Site{open: open, key: rand.Text(), listener: listener}, nil
}

// Link returns the URL of the page, with the key.
func (s *Site) Link() string { return "http://" + s.listener.Addr().String() + "/#key=" + s.key }

// Run serves the page until ctx is done. Then it closes all connections.
func (s *Site) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	server := Serve(s.listener, s.handler(), slog.New(slog.DiscardHandler), cancel) //nolint:contextcheck // Close ends it
	<-ctx.Done()
	err := server.Close() //nolint:contextcheck // ctx is done
	if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
		return cause
	}
	return err
}

// handler returns the handler of the page's files, which are not secret, and of the requests of its
// script, which require the key.
func (s *Site) handler() http.Handler {
	kinds := map[string]string{".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
	endpoints := mount(Page, endpoints(), s)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		name := "page/" + cmp.Or(strings.TrimPrefix(r.URL.Path, "/"), "index.html")
		text, err := pageFiles.ReadFile(name)
		if err != nil || guardHost(r) != nil {
			endpoints.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", kinds[path.Ext(name)]+"; charset=utf-8")
		_, _ = w.Write(text) //nolint:gosec,nolintlint // embedded, which G705 does not know at times; best effort
	})
}

// protect sets the header fields against other sites that every response of the page has.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// serve implements [Backend]: it requires the key, and limits the time.
func (s *Site) serve(w *response, r *http.Request, e endpoint) (err error) {
	sent := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if subtle.ConstantTimeCompare([]byte(sent), []byte(s.key)) != 1 {
		return models.NewError(models.CodeUnauthorized, "the key is missing or wrong: open the link that the command has printed")
	}
	limit := readTime
	if e.path == "/count" {
		limit = countTime
	}
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	backend, release, err := s.open(ctx)
	if err == nil {
		err = backend.serve(w, r.WithContext(ctx), e)
		_ = release() // it was only read
	}
	if _, ok := errors.AsType[*models.Error](err); err == nil || ok {
		return err
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("reading took longer than %v", limit)
	}
	return models.Errorf(models.CodeUnavailable, "%v", err)
}
