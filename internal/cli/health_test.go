package cli_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealth(t *testing.T) {
	t.Chdir(t.TempDir())
	addr := strings.TrimPrefix(startServer(t, "plantstore", nil).ready(t).BaseURL, "http://")
	if printed := output(t, nil, "health", "--addr", addr); printed != "" {
		t.Errorf("it prints %q, want nothing", printed)
	}
}

// A server that listens on all addresses is asked on this machine.
func TestHealthOfAllAddresses(t *testing.T) {
	t.Chdir(t.TempDir())
	base := startServer(t, "plantstore", nil, "--addr", ":0").ready(t).BaseURL
	_, port, _ := strings.Cut(strings.TrimPrefix(base, "http://"), ":")
	for _, environ := range []string{"PORT=" + port, "ADDR=0.0.0.0:" + port, "ADDR=:" + port} {
		output(t, []string{environ}, "health")
	}
}

func TestHealthWithoutServer(t *testing.T) {
	t.Parallel()
	free, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := free.Addr().String()
	_ = free.Close()
	checkFailure(t, run(t, nil, "health", "--addr", addr), 1, "the server at http://"+addr+" does not answer: *")
}

func TestHealthOfAnotherServer(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	checkFailure(t, run(t, nil, "health", "--addr", strings.TrimPrefix(other.URL, "http://")), 1,
		"the server at "+other.URL+" answers 404 Not Found")
}
