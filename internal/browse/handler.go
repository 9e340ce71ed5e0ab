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

const (
	// readTime limits the time for a request for plants, and countTime for counting them: some
	// engines read all plants.
	readTime  = 5 * time.Second
	countTime = time.Minute
)

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
		"GET /{$}":         {"index.html", "text/html"},
		"GET /browse.js":   {"browse.js", "text/javascript"},
		"GET /requests.js": {"requests.js", "text/javascript"},
		"GET /browse.css":  {"browse.css", "text/css"},
		"GET /icon.svg":    {"icon.svg", "image/svg+xml"},
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", f.kind+"; charset=utf-8")
			text, _ := pageFiles.ReadFile("page/" + f.name) // embedded files can be read
			_, _ = w.Write(text)                            // best effort
		})
	}
	mux.HandleFunc("GET /api/count", s.respond(countTime, s.getCount))
	mux.HandleFunc("GET /api/highest", s.respond(readTime, s.getHighest))
	mux.HandleFunc("GET /api/plants", s.respond(readTime, s.getPlants))
	mux.HandleFunc("GET /api/requests", s.respond(readTime, func(ctx context.Context, r *http.Request) (any, error) {
		return s.requests(ctx, r.URL.RawQuery) // with a wait of less than readTime
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		if !loopback.Is(r.Host) { // requests of other sites' pages have the name of their site there (DNS rebinding)
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

// respond returns a handler that sends the result of f, which may take limit, as JSON, or its error.
func (s *Site) respond(limit time.Duration, f func(ctx context.Context, r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		value, err := any(nil), error(&requestError{http.StatusUnauthorized, "the key is missing or wrong: open the link that the command has printed"})
		if s.authorized(r) {
			ctx, cancel := context.WithTimeout(r.Context(), limit)
			defer cancel()
			if value, err = f(ctx, r); errors.Is(err, context.DeadlineExceeded) {
				err = fmt.Errorf("reading took longer than %v", limit)
			}
		}
		status := http.StatusOK
		if err != nil {
			status, value = http.StatusServiceUnavailable, map[string]string{"error": err.Error()}
		}
		if refusal, ok := errors.AsType[*requestError](err); ok {
			status = refusal.status
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.MarshalWrite(w, value) // best effort
	}
}

func (s *Site) getCount(ctx context.Context, _ *http.Request) (any, error) {
	var result struct {
		Place  string `json:"place"`
		Plants int64  `json:"plants"`
	}
	err := s.withStore(ctx, func(store Store, place string) (err error) {
		result.Place = place
		result.Plants, err = store.Count(ctx)
		return err
	})
	return result, err
}

func (s *Site) getHighest(ctx context.Context, _ *http.Request) (any, error) {
	var id int64
	err := s.withStore(ctx, func(store Store, _ string) (err error) {
		id, err = highestID(ctx, store)
		return err
	})
	return map[string]string{"id": formatID(id)}, err
}

// getPlants responds with the plants from an id on, or those of them whose names begin with a text.
func (s *Site) getPlants(ctx context.Context, r *http.Request) (any, error) {
	from, err := fromParam(r)
	if err != nil {
		return nil, err
	}
	var p page
	err = s.withStore(ctx, func(store Store, _ string) (err error) {
		p, err = readPage(ctx, store, from, r.URL.Query().Get("name"))
		return err
	})
	return p, err
}

// fromParam returns the id in the parameter from; the lowest if there is none.
func fromParam(r *http.Request) (int64, error) {
	text := strings.TrimSpace(r.URL.Query().Get("from"))
	if text == "" {
		return math.MinInt64, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, &requestError{http.StatusBadRequest, fmt.Sprintf("%q is not an id: must be an integer from %d to %d", firstCharacters(text, maxCharacters), int64(math.MinInt64), int64(math.MaxInt64))}
	}
	return id, nil
}
