package conformance

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"plantstore/internal/must"
)

// A reply is a response of a server under test, before it is sent.
type reply struct {
	status    int
	header    map[string]string
	body, end string
}

const goodToken = "the-good-token"

// tiny is a minimal plant store. fault changes its replies before they are sent.
type tiny struct {
	fault func(*http.Request, *reply)

	mu     sync.Mutex
	plants map[int64]string
	seen   atomic.Int64
}

func (s *tiny) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := s.response(r)
	a.end = "\n"
	n := s.seen.Add(1)
	a.header["Content-Type"] = "application/json"
	a.header["X-Content-Type-Options"] = "nosniff"
	a.header["X-Request-Id"] = "request-" + time.Now().Format("150405.000000000") + "-" + string(rune('a'+n%26))
	if s.fault != nil {
		s.fault(r, a)
	}
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body+a.end)
}

func (s *tiny) response(r *http.Request) *reply {
	refuse := func(body string) *reply { return &reply{status: 400, header: map[string]string{}, body: body} }
	if r.Header.Get("Authorization") != "Bearer "+goodToken {
		a := refuse(`{"error":401,"message":"send a token"}`)
		a.header["WWW-Authenticate"] = "Bearer"
		return a
	}
	var p struct {
		ID   *int64  `json:"id"`
		Name *string `json:"name"`
	}
	if err := json.UnmarshalRead(r.Body, &p); err != nil {
		return refuse(`{"error":400,"message":"malformed JSON"}`)
	}
	if p.ID == nil || p.Name == nil {
		return refuse(`{"error":422,"message":"id: is required; name: is required"}`)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch stored, taken := s.plants[*p.ID]; {
	case !taken:
		s.plants[*p.ID] = *p.Name
		return &reply{status: 200, header: map[string]string{}, body: `{"name":` + quote(*p.Name) + `}`}
	case stored == *p.Name:
		return refuse(`{"error":409,"message":"the id is taken by an identical plant"}`)
	}
	return refuse(`{"error":409,"message":"the id is taken by a different plant"}`)
}

// serveTiny starts a server with a fault, if any.
func serveTiny(t *testing.T, fault func(*http.Request, *reply)) Options {
	t.Helper()
	s := httptest.NewServer(&tiny{fault: fault, plants: map[int64]string{}})
	t.Cleanup(s.Close)
	return Options{URL: s.URL, Token: goodToken, Timeout: 20 * time.Second}
}

// runOne runs one case and returns its result.
func runOne(t *testing.T, o Options, c Case) Result {
	t.Helper()
	report := must.Get(run(t.Context(), o, []Case{c}))(t)
	return report.Results[0]
}
