package server

import (
	"net/http"
	"testing"
	"time"
)

// TestRequestContext checks that each request on a connection has a context with its own
// deadline, which ends with the request.
func TestRequestContext(t *testing.T) {
	t.Parallel()
	before := make(chan (<-chan struct{}), 1)
	before <- nil
	s := start(t, func(_ *site, config *Config) {
		config.RequestTimeout = time.Hour
		next := config.Handler
		config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if last := <-before; last != nil {
				<-last
			}
			before <- r.Context().Done()
			due, ok := r.Context().Deadline()
			if left := time.Until(due); !ok || left > time.Hour || left < time.Hour-patience {
				t.Errorf("the deadline is in %v, %v", left, ok)
			}
			if r.Context().Err() != nil {
				t.Errorf("the context is %v", r.Context())
			}
			next.ServeHTTP(w, r)
		})
	})
	c := s.dial(t)
	for range 3 {
		c.send(good).wantEcho(goodEcho())
	}
}
