package e2e

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/must"
	"plantstore/e2e/internal/plantstore"
)

// patience bounds every exchange; it is far above the usual duration.
const patience = time.Minute

// get returns the body of a GET, which must return 200.
func get(t *testing.T, server *plantstore.Server, url string) []byte {
	t.Helper()
	r := server.Get(url)
	if r.Status != http.StatusOK {
		t.Fatalf("GET %s: status %d", url, r.Status)
	}
	return []byte(r.Body)
}

// create returns the bytes of a POST /plants with that token and body.
func create(token, body string, headers ...string) string {
	return rawRequest("POST /plants HTTP/1.1", append([]string{
		"Authorization: Bearer " + token, "Content-Type: application/json", "Content-Length: " + strconv.Itoa(len(body)),
	}, headers...), body)
}

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
	_, address, _ := strings.Cut(server.BaseURL, "://")
	conn := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", address))(t)
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience)) // fails only on a closed connection
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.WriteString(conn, request) // the server may refuse before it has read the complete request
	}()
	var bytes strings.Builder
	response, err := http.ReadResponse(bufio.NewReader(io.TeeReader(conn, &bytes)), nil)
	if err != nil {
		t.Fatalf("no response to %.60q: %v", request, err)
	}
	if r, err = plantstore.Read(response); err != nil {
		t.Fatalf("an incomplete response: %q, %v", r.Body, err)
	}
	_ = conn.Close()
	<-sent
	return r, bytes.String()
}
