package control_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/control"
	"plantstore/storage"
)

// wire returns a plain HTTP client for the socket at path.
func wire(t *testing.T, path string) *http.Client {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// exchange sends a request and returns the status and the body of the response.
func exchange(t *testing.T, client *http.Client, method, target, body string) (status int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://plantstore"+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(content)
}

// TestWireForm checks that a plant is sent as a NewPlant in both directions, and anything else
// is refused.
func TestWireForm(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plants.db")
	newDatabase(t, path) // with the plant 1
	client := wire(t, control.SocketPath(path))
	if status, response := exchange(t, client, http.MethodPost, "/v2/plants", `{"id":2,"name":"b","tag":""}`); status != http.StatusOK || response != "[null]" {
		t.Errorf("create: %d, %s", status, response)
	}
	_, got := exchange(t, client, http.MethodGet, "/v2/plants?from=1", "")
	if diff := cmp.Diff("{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":\"b\",\"tag\":\"\"}\n", got); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	for _, body := range []string{`{"id":3,"Plant":{"name":"c"}}`, `{"id":3,"name":"c","x":1}`} {
		status, response := exchange(t, client, http.MethodPost, "/v2/plants", body)
		if status != http.StatusOK || !strings.Contains(response, `"too_large"`) || !strings.Contains(response, "is not a field of a NewPlant") {
			t.Errorf("create %s: %d, %s", body, status, response)
		}
	}
	if _, response := exchange(t, client, http.MethodGet, "/v2/plants/3", ""); !strings.Contains(response, `"not_found"`) {
		t.Errorf("a plant that was refused is there: %s", response)
	}
}

// TestUnknownResponse checks that a client refuses a response that it does not fully
// understand.
func TestUnknownResponse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plants.db")
	listener, err := control.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { //nolint:gosec // of a test
		_, _ = io.WriteString(w, `{"id":1,"name":"a","x":1}`)
	})}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(listener) }()
	defer func() { _ = server.Close(); <-served }()
	client, err := control.Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	for record, err := range client.List(t.Context(), 0) {
		if !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("List: %+v, %v, want: %v", record, err, storage.ErrUnavailable)
		}
	}
	if plant, err := client.Get(t.Context(), 1); err == nil {
		t.Errorf("Get: %+v, want an error", plant)
	}
}
