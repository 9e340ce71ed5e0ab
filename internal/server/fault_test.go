package server

import (
	"io"
	"net/http"
	"testing"

	"plantstore/models"
)

// refusing is a handler that refuses each request as the server itself does. Its writes
// after that have no effect.
func refusing(_ *site, config *Config) {
	config.CORSHeader = echoOrigin
	config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", "the-handler")
		if e := Refuse(wrapper{w}, models.CodeExpectationFailed, "code=417"); e.Code != models.CodeExpectationFailed {
			w.Header().Set("X-Request-Id", e.Error())
		}
		w.WriteHeader(http.StatusOK)
	})
}

// A wrapper wraps a writer, as Gin does.
type wrapper struct{ http.ResponseWriter }

func (w wrapper) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// TestRefuse checks that an error on demand equals the server's own, but for
// Preference-Applied, and the server counts only the real one.
func TestRefuse(t *testing.T) {
	t.Parallel()
	s, authority := startSecure(t, refusing)
	client := webClient(t, authority)
	http1 := &http.Client{Transport: &http.Transport{TLSClientConfig: authority.Client(http11Name), DisableKeepAlives: true}, Timeout: patience}
	for version, c := range map[string]*http.Client{"HTTP/2.0": client, "HTTP/1.1": http1} {
		demanded, body := s.request(t, c, "")
		original, want := s.request(t, c, "a miracle")
		if demanded.Proto != version || body != want || demanded.StatusCode != original.StatusCode {
			t.Errorf("%s: %s %q, and the real one is %q", version, demanded.Status, body, want)
		}
		for _, r := range []*http.Response{demanded, original} {
			if r.Header.Get("Access-Control-Allow-Origin") != allowedOrigin || r.Close != (version == "HTTP/1.1") {
				t.Errorf("%s: header %v, closes: %v", version, r.Header, r.Close)
			}
		}
		if got := demanded.Header; got.Get("Preference-Applied") != "code=417" || got.Get("X-Request-Id") != "the-handler" || len(got) != len(original.Header)+1 {
			t.Errorf("%s: header %v, and the real one is %v", version, got, original.Header)
		}
	}
	if got := s.Stats().Refused.Count(models.CodeExpectationFailed); got != 2 {
		t.Errorf("%d refusals are counted, want 2", got)
	}
}

// request sends a request with a value of Expect, and returns the response and its body.
func (s *site) request(t *testing.T, c *http.Client, expect string) (response *http.Response, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+s.addr.String(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", allowedOrigin)
	if expect != "" {
		r.Header.Set("Expect", expect)
	}
	if response, err = c.Do(r); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text)
}
