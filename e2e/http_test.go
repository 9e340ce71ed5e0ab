package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/oas"
	"plantstore/e2e/internal/plantstore"
	"plantstore/models"
)

// patience bounds every exchange; it is far above the usual duration.
const patience = time.Minute

// get returns the body of a GET, which must return 200.
func get(t *testing.T, url string) []byte {
	t.Helper()
	status, body := fetch(t, url)
	if status != http.StatusOK {
		t.Fatalf("GET %s: status %d", url, status)
	}
	return body
}

// fetch returns the status and the body of the response to a GET.
func fetch(t *testing.T, url string) (status int, body []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err = io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("GET %s: %v", url, err)
	}
	return response.StatusCode, body
}

// checkerOf returns a Checker of the description that the server itself serves.
func checkerOf(t *testing.T, server *plantstore.Server) *oas.Checker {
	t.Helper()
	checker, err := oas.NewChecker(get(t, server.DescriptionURL))
	if err != nil {
		t.Fatal(err)
	}
	return checker
}

// dial connects to a server.
func dial(t *testing.T, server *plantstore.Server) net.Conn {
	t.Helper()
	_, address, _ := strings.Cut(server.BaseURL, "://")
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// exchange sends a request, byte for byte, and returns the response with its complete body. It
// does not close its side before the response has arrived.
func exchange(t *testing.T, server *plantstore.Server, request string) *http.Response {
	t.Helper()
	conn := dial(t, server)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.WriteString(conn, request) // the server may refuse before it has read the complete request
	}()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("no response: %v", err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("an incomplete response: %q, %v", body, err)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	_ = conn.Close()
	<-sent
	return response
}

// failure returns the Error in a response, or the zero Error if it has none.
func failure(t *testing.T, response *http.Response) models.Error {
	t.Helper()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var e models.Error
	if err := json.Unmarshal(body, &e); err != nil {
		t.Fatalf("%q: %v", body, err)
	}
	return e
}
