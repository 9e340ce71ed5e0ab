package conformance

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"plantstore/internal/must"
)

// FuzzConnection sends arbitrary bytes in two pieces to the server, through a proxy that reads every
// response. The status of each is 100, 200, 302, 304 or 400, and 400 has an Error (C1.3); none comes
// without a request, and the connection ends after the last one.
func FuzzConnection(f *testing.F) {
	socket := filepath.Join(f.TempDir(), "socket") // there are not enough TCP ports for so many connections
	o := setup{socket: socket}.start(f)
	r, err := newRunner(o)
	if err != nil {
		f.Fatal(err)
	}
	for i, c := range Cases() {
		for _, exchange := range c.Exchanges {
			out, err := exchange.bytes(r.values.forCase(i))
			if all := bytes.Join(out, nil); err == nil && len(all) < 8<<10 {
				f.Add(all, len(all)/2)
			}
		}
	}
	for _, text := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n\r\n",                                                                         // 302
		"GET /openapi.json HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\n\r\nHEAD /docs HTTP/1.1\r\nHost: x\r\n\r\nHEAD / HTTP/1.1\r\n\r\n", // 304
		"POST /plants HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + "PRI * HTTP/2.0\r\n\r\n", "H\rEAD ",
	} {
		f.Add([]byte(text), len(text)/2)
	}
	f.Fuzz(func(t *testing.T, input []byte, cut int) {
		server := must.Get(new(net.Dialer).DialContext(t.Context(), "unix", socket))(t)
		defer server.Close()
		_ = server.SetDeadline(time.Now().Add(patient)) // if it fails, so does Read
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			cut = min(max(cut, 0), len(input))
			_, _ = server.Write(input[:cut]) // the server may have closed the connection
			_, _ = server.Write(input[cut:])
			_ = server.(*net.UnixConn).CloseWrite()
		}()
		statuses, problem := proxied(methods(input), bufio.NewReader(server))
		if problem != "" {
			t.Fatalf("%s after %v", problem, statuses)
		}
		<-sent
	})
}

// methods returns the methods of the requests in input, as far as they can be parsed.
func methods(input []byte) (all []string) {
	for in := bufio.NewReader(bytes.NewReader(input)); ; {
		for next, err := in.Peek(1); err == nil && (next[0] == '\r' || next[0] == '\n'); next, err = in.Peek(1) {
			_, _ = in.Discard(1) // as net/http does after some requests
		}
		request, err := http.ReadRequest(in)
		if err != nil {
			return all
		}
		all = append(all, request.Method)
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return all
		}
	}
}

// proxied reads the responses to requests with these methods, and perhaps to one that cannot be
// parsed. It returns their statuses, and a problem of the last one.
func proxied(requests []string, in *bufio.Reader) (statuses []int, problem string) {
	for requests = append(requests, http.MethodPost); ; {
		if _, err := in.Peek(1); err == io.EOF {
			return statuses, ""
		}
		if len(requests) == 0 {
			return statuses, "there is a response without a request"
		}
		response, err := http.ReadResponse(in, &http.Request{Method: requests[0]})
		if err != nil {
			return statuses, err.Error()
		}
		statuses = append(statuses, response.StatusCode)
		body := io.Reader(response.Body)
		if requests[0] == http.MethodHead && response.Close {
			body = in // net/http may have refused the request: then its response has a body
		}
		content, err := io.ReadAll(body)
		_ = response.Body.Close()
		if err != nil {
			return statuses, err.Error()
		}
		switch response.StatusCode {
		case http.StatusContinue:
			continue // the response follows
		case http.StatusOK, http.StatusFound, http.StatusNotModified:
		case http.StatusBadRequest:
			h := received{body: content}
			if _, _, exact := h.failure(); !exact && (requests[0] != http.MethodHead || len(content) > 0) {
				return statuses, fmt.Sprintf("%q is not an Error", content)
			}
		default:
			return statuses, "this status is not in the contract"
		}
		requests = requests[1:]
	}
}
