package browse

import (
	"context"
	"crypto/subtle"
	"embed"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"plantstore/internal/loopback"
)

//go:embed page
var pageFiles embed.FS

const readTime = 5 * time.Second

// policy forbids the page everything except its own files. Trusted types make the browser refuse
// a script that would parse a name as HTML.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// A requestError is an error of the client.
type requestError struct {
	status  int
	message string
}

func (e *requestError) Error() string { return e.message }

// handler returns the handler of the page and its files, which are not secret, and of the
// requests of its script, which require the key.
func (s *Site) handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, f := range map[string]struct{ name, kind string }{
		"GET /{$}":        {"index.html", "text/html"},
		"GET /browse.js":  {"browse.js", "text/javascript"},
		"GET /browse.css": {"browse.css", "text/css"},
		"GET /icon.svg":   {"icon.svg", "image/svg+xml"},
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", f.kind+"; charset=utf-8")
			text, _ := pageFiles.ReadFile("page/" + f.name) // embedded files can be read
			_, _ = w.Write(text)                            // best effort
		})
	}
	mux.HandleFunc("GET /api/status", s.respond(s.getStatus))
	mux.HandleFunc("GET /api/plants", s.respond(s.getPlants))
	mux.HandleFunc("GET /api/search", s.respond(s.getSearch))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		if !loopback.IsHost(r.Host) {
			http.Error(w, "Host must be localhost or a loopback address", http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// protect sets the header fields that every response has.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

func (s *Site) authorized(r *http.Request) bool {
	sent := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	return subtle.ConstantTimeCompare([]byte(sent), []byte(s.key)) == 1
}

// respond returns a handler that sends the result of f as JSON, or its error.
func (s *Site) respond(f func(ctx context.Context, r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		value, err := any(nil), error(&requestError{http.StatusUnauthorized, "the key is missing or wrong: open the link that the command has printed"})
		if s.authorized(r) {
			_ = s.removeRedirect() // the browser has the link; Run reports the error
			ctx, cancel := context.WithTimeout(r.Context(), readTime)
			defer cancel()
			value, err = f(ctx, r)
		}
		status := http.StatusOK
		if err != nil {
			code, message := problem(err)
			status, value = code, map[string]string{"error": message}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.MarshalWrite(w, value) // best effort
	}
}

// problem returns the status and the message for an error.
func problem(err error) (status int, message string) {
	if refusal, ok := errors.AsType[*requestError](err); ok {
		return refusal.status, refusal.message
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return http.StatusServiceUnavailable, fmt.Sprintf("reading took longer than %v", readTime)
	}
	return http.StatusServiceUnavailable, err.Error()
}

func (s *Site) getStatus(ctx context.Context, _ *http.Request) (any, error) {
	status := s.status.get(ctx)
	status.Place = s.options.Place
	return status, nil
}

// getPlants responds with the plants from an id on, or through an id.
func (s *Site) getPlants(ctx context.Context, r *http.Request) (any, error) {
	read, name := s.from, "from"
	if r.URL.Query().Has("through") {
		read, name = s.through, "through"
	}
	id, err := idParam(r, name)
	if err != nil {
		return nil, err
	}
	return read(ctx, id)
}

func (s *Site) getSearch(ctx context.Context, r *http.Request) (any, error) {
	id, err := idParam(r, "from")
	if err != nil {
		return nil, err
	}
	name := r.URL.Query().Get("name")
	if name == "" {
		return nil, &requestError{http.StatusBadRequest, "name: must not be empty"}
	}
	return s.search(ctx, name, id)
}

// idParam returns the id in a parameter; the lowest if there is none.
func idParam(r *http.Request, name string) (int64, error) {
	text := strings.TrimSpace(r.URL.Query().Get(name))
	if text == "" {
		return math.MinInt64, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, &requestError{http.StatusBadRequest, fmt.Sprintf("%q is not an id: must be an integer from %d to %d", firstCharacters(text, maxCharacters), math.MinInt64, math.MaxInt64)}
	}
	return id, nil
}
