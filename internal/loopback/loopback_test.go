package loopback_test

import (
	"testing"

	"plantstore/internal/loopback"
)

func TestIs(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST:80": true, "127.0.0.1": true, "127.1.2.3:80": true, "::1": true, "[::1]": true, "[::1]:80": true,
		"": false, ":80": false, "0.0.0.0:80": false, "[::]:80": false, "10.0.0.1": false,
		"localhost.example.com": false, "127.0.0.1.example.com:80": false, "unix:127.0.0.1": false,
	} {
		if got := loopback.Is(host); got != want {
			t.Errorf("Is(%q) = %t, want %t", host, got, want)
		}
	}
}
