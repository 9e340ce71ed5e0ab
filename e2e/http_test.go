package e2e

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

// get returns the body of a GET, which must return 200.
func get(t *testing.T, server *plantstore.Server, url string) []byte {
	t.Helper()
	r := server.Get(url)
	if r.Status != http.StatusOK {
		t.Fatalf("GET %s: status %d", url, r.Status)
	}
	return []byte(r.Body)
}

// rawRequest returns the bytes of a request.
func rawRequest(line string, headers []string, body string) string {
	return line + "\r\nHost: plants.test\r\n" + strings.Join(append(headers, "", ""), "\r\n") + body
}

// exchange sends a request, byte for byte, and returns the response.
func exchange(t *testing.T, server *plantstore.Server, request string) plantstore.Reply {
	t.Helper()
	r, _ := exchangeRaw(t, server, request)
	return r
}

// exchangeRaw is exchange that also returns the bytes of the response. It does not close its side
// before the response has arrived.
func exchangeRaw(t *testing.T, server *plantstore.Server, request string) (r plantstore.Reply, raw string) {
	t.Helper()
	conn := plantstore.Dial(t, server.BaseURL)
	var bytes strings.Builder
	conn.In = bufio.NewReader(io.TeeReader(conn, &bytes))
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_ = conn.Send(request) // the server may refuse before it has read the complete request
	}()
	r, err := conn.Receive()
	if err != nil {
		t.Fatalf("the response to %.60q: %q, %v", request, r.Body, err)
	}
	_ = conn.Close()
	<-sent
	return r, bytes.String()
}
