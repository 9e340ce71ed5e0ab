package attack

import (
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
	"plantstore/models"
)

// fields returns as many header fields as fit into size bytes, with different short names.
func fields(size int, value string) string {
	var all strings.Builder
	for n := int64(36 * 36); ; n++ {
		field := strconv.FormatInt(n, 36) + ":" + value + "\n"
		if all.Len()+len(field) > size {
			return all.String()
		}
		all.WriteString(field)
	}
}

// TestMemoryOfConnections checks how much memory a connection takes at most, as in docs/secure.md:
// with the headers that take most, complete or not, and clients that do not read the response.
func TestMemoryOfConnections(t *testing.T) { //nolint:paralleltest // its clients need much memory, too
	const connections, size, most = 1000, 15 << 10, 100 << 10
	value := strings.Repeat("v", 160)
	for name, row := range map[string]struct{ query, fields string }{ //nolint:paralleltest // as above
		"long query":               {strings.Repeat("q", size), "\n"},
		"fewer than 100 fields":    {"", fields(size, value) + "\n"},
		"the same, not ended":      {"", fields(size, value)},
		"thousands of fields":      {"", fields(size, "") + "\n"},
		"the same, not ended, too": {"", fields(size, "")},
		"behind a request":         {"", "\nGET / HTTP/1.1\nHost: x\n" + fields(size/4, "")},
	} {
		t.Run(name, func(t *testing.T) {
			s := plantstore.Start(t, plantstore.Options{Env: []string{"LOG_LEVEL=error"}})
			script := regexp.MustCompile(`/scalar-\w+\.js`).FindString(s.Get(s.BaseURL + "/docs").Body)
			request := fmt.Sprintf("GET /docs%s?%s HTTP/1.1\nHost: x\n%s", script, row.query, row.fields)
			before := peak(s)
			var waiting sync.WaitGroup
			for range connections {
				c := dialDeaf(t, s)
				waiting.Go(func() {
					_, _ = io.WriteString(c, request) // it may be refused before its end
					if name != "the same, not ended" {
						_, _ = c.Read(make([]byte, 1)) // the response has begun
					}
				})
			}
			waiting.Wait()
			if name == "the same, not ended" {
				plantstore.Await(t, "the server has read all", func() bool { return !unread(t, s) })
			}
			each := (peak(s) - before) / connections
			t.Logf("%d KiB for each connection", each>>10)
			if each > most {
				t.Errorf("%d bytes for each connection, want at most %d", each, most)
			}
		})
	}
}

// TestMemoryOfNestedTokens checks how much memory a connection keeps after a token whose header or claims nest
// as deep as a header has room for: parsers that recurse grow the stack of its goroutine.
func TestMemoryOfNestedTokens(t *testing.T) { //nolint:paralleltest // its clients need much memory, too
	const connections, size, most = 2000, 10 << 10, 100 << 10
	encode := base64.RawURLEncoding.EncodeToString
	good := encode([]byte(`{"alg":"HS256"}`))
	deep := encode([]byte(`{"alg":"HS256","x":` + strings.Repeat("[", size)))
	for name, token := range map[string]string{ //nolint:paralleltest // as above
		"short":   good + "." + encode([]byte(`{}`)) + ".AAAA",
		"header":  deep + "." + encode([]byte(`{}`)) + ".AAAA",
		"claims":  good + "." + deep + ".AAAA",
		"objects": good + "." + encode([]byte(strings.Repeat(`{"x":`, size/5))) + ".AAAA",
	} {
		t.Run(name, func(t *testing.T) {
			s := plantstore.Start(t, plantstore.Options{Env: []string{"LOG_LEVEL=error"}})
			before := peak(s)
			for range connections {
				c := plantstore.Dial(t, s.BaseURL)
				if reply, err := c.Do(plantstore.Create(token, "")); err != nil || reply.Code != models.CodeUnauthorized || reply.Closes {
					t.Fatalf("%+v, %v", reply, err)
				}
			}
			each := (peak(s) - before) / connections
			t.Logf("%d KiB for each connection", each>>10)
			if each > most {
				t.Errorf("%d bytes for each connection, want at most %d", each, most)
			}
		})
	}
}

// unread reports whether the kernel has input of connections that a server has not read
// (proc_pid_net(5)).
func unread(t *testing.T, s *plantstore.Server) bool {
	t.Helper()
	port := must.Get(strconv.Atoi(s.BaseURL[strings.LastIndexByte(s.BaseURL, ':')+1:]))(t)
	table := must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/net/tcp", s.PID())))(t)
	established := regexp.MustCompile(fmt.Sprintf(`[0-9A-F]{8}:%04X [0-9A-F:]{13} 01 [0-9A-F]{8}:(\w+)`, port))
	for _, connection := range established.FindAllSubmatch(table, -1) {
		if string(connection[1]) != "00000000" {
			return true
		}
	}
	return false
}

// dialDeaf connects to a server, with the smallest buffer for responses.
func dialDeaf(t *testing.T, s *plantstore.Server) net.Conn {
	t.Helper()
	dialer := net.Dialer{Control: func(_, _ string, socket syscall.RawConn) error {
		return socket.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 1) })
	}}
	c := must.Get(dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.BaseURL, "http://")))(t)
	t.Cleanup(func() { _ = c.Close() })
	must.Do(t, c.SetDeadline(time.Now().Add(plantstore.Patience)))
	return c
}
