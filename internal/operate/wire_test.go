package operate_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/must"
	"plantstore/internal/operate"
)

// TestWireForm checks the lines of requests and responses.
func TestWireForm(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plants.db")
	newDatabase(t, path) // with the plant 1
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", operate.SocketPath(path))
	}}
	t.Cleanup(transport.CloseIdleConnections)
	for _, test := range []struct{ request, body, want string }{
		{"GET /info", "", `{"version":"devel","base_url":"http://127.0.0.1:1"}`},
		{
			"POST /plants", `{"id":2,"name":"b","tag":""}` + "\n\n" + `{"id":1,"name":"a"}` + "\n" + `{"id":1,"name":"b"}`,
			"{}\n" + `{"error":409,"message":"the id is taken by an identical plant"}` + "\n" +
				`{"error":409,"message":"the id is taken by a different plant","stored":{"name":"a"}}`,
		},
		{"GET /plants?from=1", "", `{"id":1,"name":"a"}` + "\n" + `{"id":2,"name":"b","tag":""}`},
		{"GET /plant?id=1", "", `{"id":1,"name":"a"}`},
		{"GET /plant?id=3", "", `{"error":404,"message":"no plant has this id","kind":"not_found"}`},
		{"GET /count", "", `{"version":"devel","base_url":"http://127.0.0.1:1","plants":2}`},
	} {
		method, target, _ := strings.Cut(test.request, " ")
		request := must.Get(http.NewRequestWithContext(t.Context(), method, "http://plantstore"+target, strings.NewReader(test.body)))(t)
		response := must.Get(transport.RoundTrip(request))(t)
		got, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if diff := cmp.Diff(test.want+"\n", string(got)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", test.request, err, diff)
		}
	}
}
