package routestest_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"plantstore/internal/must"
	"plantstore/internal/watchdog"
	"plantstore/models"
	"plantstore/routes/routestest"
)

func TestMain(m *testing.M) { watchdog.Main(m) }

// create sends a plant with other header fields, and returns the response.
func create(t *testing.T, server *routestest.Server, body string, header ...string) string {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/plants", strings.NewReader(body)))(t)
	r.Header = http.Header{"Authorization": {"Bearer " + server.Token("alice")}, "Content-Type": {"application/json"}}
	for _, field := range header {
		name, value, _ := strings.Cut(field, ": ")
		r.Header.Set(name, value)
	}
	return read(t, must.Get(http.DefaultClient.Do(r))(t))
}

func read(t *testing.T, response *http.Response) string {
	t.Helper()
	defer response.Body.Close()
	return strings.TrimSuffix(string(must.Get(io.ReadAll(response.Body))(t)), "\n")
}

// TestServer checks that a server stores the plants of a client, and gives errors on demand. Another
// server does not know them.
func TestServer(t *testing.T) {
	t.Parallel()
	server, other := routestest.NewServer(t), routestest.NewServer(t)
	const fern = `{"id":7,"name":"fern","tag":"green"}`
	if got := create(t, server, fern); got != `{"name":"fern","tag":"green"}` {
		t.Errorf("the response is %s", got)
	}
	if got := create(t, server, fern, "Authorization: Bearer "+other.Token("alice")); !strings.HasPrefix(got, `{"error":401,`) {
		t.Errorf("with the token of another server: %s", got)
	}
	if got := create(t, server, `{"id":8,"name":"moss"}`, "Prefer: code=507"); !strings.HasPrefix(got, `{"error":507,`) {
		t.Errorf("with an error on demand: %s", got)
	}
	if plant, err := server.Store.Get(t.Context(), 7); err != nil || !plant.Equal(models.Plant{Name: "fern", Tag: new("green")}) {
		t.Errorf("the stored plant is %+v, %v", plant, err)
	}
	if n, err := server.Store.Count(t.Context()); err != nil || n != 1 {
		t.Errorf("%d plants, %v, want 1", n, err)
	}
	if n, err := other.Store.Count(t.Context()); err != nil || n != 0 {
		t.Errorf("the other server has %d plants, %v", n, err)
	}
}

// TestMalformed checks that a server responds with an Error to what is not valid HTTP.
func TestMalformed(t *testing.T) {
	t.Parallel()
	address := strings.TrimPrefix(routestest.NewServer(t).URL, "http://")
	conn := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", address))(t)
	defer conn.Close()
	must.Get(io.WriteString(conn, "POST /plants HTTP/1.1\r\nno colon\r\n\r\n"))(t)
	response := must.Get(http.ReadResponse(bufio.NewReader(conn), nil))(t)
	if got := read(t, response); response.StatusCode != http.StatusBadRequest || !strings.HasPrefix(got, `{"error":400,`) {
		t.Errorf("%d %s", response.StatusCode, got)
	}
}
