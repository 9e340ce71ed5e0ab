package operate_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"plantstore/internal/operate"
)

// TestGuard checks that requests that a page in a browser could send do nothing; requests of
// tools and people do.
func TestGuard(t *testing.T) {
	t.Parallel()
	loopback, public := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8081}, &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 8081}
	resets := 0
	h := newHandler(newStore(), func(o *operate.Operator) {
		o.Reset = func(context.Context) (int64, error) { resets++; return 0, nil }
	})
	for _, test := range []struct {
		local       net.Addr
		host        string
		name, value string // of a header field
		passes      bool
	}{
		{loopback, "LOCALHOST", "", "", true},
		{loopback, "127.1.2.3:8081", "", "", true},
		{loopback, "[::1]:9090", "", "", true},
		{loopback, "[::1]", "", "", true},
		{loopback, "", "", "", true}, // HTTP/1.0
		{loopback, "localhost.evil.example:8081", "", "", false},
		{loopback, "10.0.0.1:8081", "", "", false},
		{loopback, "[::2]:8081", "", "", false},
		{loopback, "127.0.0.1.evil.example", "", "", false},
		{&net.TCPAddr{IP: net.IPv6loopback}, "evil.example", "", "", false},
		{public, "plants.example:8081", "", "", true},
		{loopback, "localhost:8081", "Sec-Fetch-Site", "none", true},
		{loopback, "localhost:8081", "Sec-Fetch-Site", "same-origin", true},
		{loopback, "localhost:8081", "Sec-Fetch-Site", "same-site", false},
		{public, "plants.example", "Sec-Fetch-Site", "cross-site", false},
		{loopback, "localhost:8081", "Origin", "http://localhost:8081", true},
		{loopback, "localhost:8081", "Origin", "http://localhost:3000", false},
		{loopback, "localhost:8081", "Origin", "null", false},
	} {
		ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, test.local)
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/reset", http.NoBody)
		r.Host = test.host
		r.Header.Set(test.name, test.value)
		w := httptest.NewRecorder()
		resets = 0
		h.ServeHTTP(w, r)
		if (w.Code == http.StatusOK) != test.passes || (resets > 0) != test.passes {
			t.Errorf("%+v: status %d: %s, %d resets", test, w.Code, w.Body, resets)
		}
	}
}
