package overload

import (
	"crypto/tls"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/load"
	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/certtest"
	"plantstore/internal/must"
)

// TestTLS uses all connections with clients that hold as much memory as possible over TLS:
// during the handshake, and in the body after a large header. One more client is still served.
func TestTLS(t *testing.T) {
	t.Parallel()
	const connections = 1000
	authority := certtest.New(t)
	cert, key := authority.Issue(t.TempDir(), time.Now().Add(time.Hour))
	// With little garbage, the memory of the process is close to its live heap.
	s := newSite(t, "TLS_CERT_FILE="+cert, "TLS_KEY_FILE="+key, fmt.Sprint("MAX_CONNECTIONS=", connections),
		"GOGC=10", "REQUEST_TIMEOUT=1h")
	config := authority.Client()
	config.ServerName = "localhost"
	// A large header and nearly all of a small body.
	fields := append(slices.Repeat([]string{"X-Large: " + strings.Repeat("a", 250)}, 100), "Content-Length: 4096")
	held := plantstore.Header(s.Token, fields...) + strings.Repeat(" ", 4095)
	before := memory(t, s.Server, "VmRSS")
	load.Each(connections-1, 32, func(n int) {
		c, err := s.dial(n)
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetDeadline(time.Now().Add(patience)) // if this fails, so does the next call
		if n >= connections*9/10 {                  // the last ones: a handshake has five seconds
			_, err = io.WriteString(c, "\x16\x03\x01\x40\x00\x01\x00\xff\xfb"+strings.Repeat("a", 15<<10))
		} else {
			_, err = io.WriteString(tls.Client(c.Conn, config), held)
		}
		if err != nil {
			t.Errorf("client %d: %v", n, err)
		}
	})
	last := must.Get(s.dial(0))(t)
	last.Wrap(tls.Client(last.Conn, config))
	t.Cleanup(func() { _ = last.Close() })
	s.want(last, "one more client", s.create(1), created)
	wantMemory(t, s.Server, "VmHWM", before+connections<<15+connections<<16) // as in docs/secure.md
}
