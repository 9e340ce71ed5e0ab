package loopback_test

import (
	"testing"

	"plantstore/internal/loopback"
)

func TestIsHost(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost":                true,
		"LOCALHOST:80":             true,
		"127.0.0.1":                true,
		"127.1.2.3:8081":           true,
		"[::1]":                    true,
		"[::1]:8081":               true,
		"::1":                      true,
		"::ffff:127.0.0.1":         true,
		"":                         false,
		":80":                      false,
		"0.0.0.0":                  false,
		"10.0.0.1:80":              false,
		"evil.example:80":          false,
		"localhost.evil.example":   false,
		"127.0.0.1.evil.example:1": false,
		"127.0.0.1.":               false,
	} {
		if got := loopback.IsHost(host); got != want {
			t.Errorf("IsHost(%q) = %v", host, got)
		}
	}
}
