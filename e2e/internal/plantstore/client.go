package plantstore

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plantstore/internal/must"
	"plantstore/models"
)

// A Reply is a response with its complete body.
type Reply struct {
	models.Error // zero if the body is not an Error

	Status int
	Header http.Header
	Body   string
	Proto  string // such as HTTP/1.1
	Closes bool   // the server closes the connection
}

// Identical reports whether exactly this plant was stored before.
func (r Reply) Identical() bool {
	return r.Code == models.CodeConflict && strings.Contains(r.Message, "is identical")
}

// Read reads a response and closes its body.
func Read(response *http.Response) (Reply, error) {
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	r := Reply{Status: response.StatusCode, Header: response.Header, Body: string(body), Proto: response.Proto, Closes: response.Close}
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
		if request.Header.Set(field[0], field[1]); field[0] == "Host" {
			request.Host = field[1]
		}
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
	return NewTLSClient(t, nil)
}

// NewTLSClient is [NewClient] with that configuration of TLS.
func NewTLSClient(t testing.TB, config *tls.Config) *http.Client {
	t.Helper()
	client := &http.Client{Timeout: Patience, Transport: &http.Transport{MaxIdleConnsPerHost: 256, TLSClientConfig: config}}
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

// Metrics returns all series of the admin listener, by name and labels.
func (s *Server) Metrics() map[string]float64 {
	s.t.Helper()
	all := map[string]float64{}
	for line := range strings.Lines(s.Get(s.AdminURL + "/metrics").Body) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		i := strings.LastIndexByte(line, ' ')
		all[line[:i]] = must.Get(strconv.ParseFloat(line[i+1:], 64))(s.t)
	}
	return all
}
