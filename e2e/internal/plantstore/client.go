package plantstore

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"plantstore/e2e/internal/must"
	"plantstore/models"
)

// A Reply is a response with its complete body.
type Reply struct {
	models.Error // zero if the body is not an Error

	Status int
	Header http.Header
	Body   string
}

// Identical reports whether exactly this plant was stored before.
func (r Reply) Identical() bool {
	return r.Code == models.CodeConflict && strings.Contains(r.Message, "is identical")
}

// Read reads a response and closes its body.
func Read(response *http.Response) (Reply, error) {
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	r := Reply{Status: response.StatusCode, Header: response.Header, Body: string(body)}
	_ = json.Unmarshal(body, &r.Error) // not all responses are Errors
	return r, err
}

// Do sends a request with these header fields, which follow each other as names and values.
func Do(ctx context.Context, client *http.Client, method, url, body string, header ...string) (Reply, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return Reply{}, err
	}
	for field := range slices.Chunk(header, 2) {
		request.Header.Set(field[0], field[1])
	}
	response, err := client.Do(request)
	if err != nil {
		return Reply{}, err
	}
	return Read(response)
}

// Post sends a NewPlant to the service at base.
func Post(ctx context.Context, client *http.Client, base, token, plant string) (Reply, error) {
	return Do(ctx, client, http.MethodPost, base+"/plants", plant, "Authorization", "Bearer "+token, "Content-Type", "application/json")
}

// NewClient returns a client that keeps its connections until the end of the test.
func NewClient(t testing.TB) *http.Client {
	t.Helper()
	client := &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

// Post sends a NewPlant to the server, which must respond.
func (s *Server) Post(token, plant string) Reply {
	s.t.Helper()
	r := must.Get(s.TryPost(token, plant))(s.t)
	return r
}

// TryPost sends a NewPlant to the server, which may have exited.
func (s *Server) TryPost(token, plant string) (Reply, error) {
	return Post(s.t.Context(), s.client, s.BaseURL, token, plant)
}

// Get returns the response to a GET; there must be one.
func (s *Server) Get(url string) Reply {
	s.t.Helper()
	r := must.Get(Do(s.t.Context(), s.client, http.MethodGet, url, ""))(s.t)
	return r
}

// Run runs a command of the program in the directory dir, which must succeed, and returns its output.
func Run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := Command(t, dir, nil, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("plantstore %q: %v\n%s", args, err, out)
	}
	return string(out)
}
