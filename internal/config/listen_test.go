package config_test

import (
	"strings"
	"testing"

	"plantstore/internal/config"
	"plantstore/internal/must"
)

// TestAdminPort checks that two listeners of one server cannot have the same port.
func TestAdminPort(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		environ  map[string]string
		samePort bool
	}{
		"the same":             {map[string]string{"ADDR": "127.0.0.1:9", "ADMIN_ADDR": "127.0.0.1:9"}, true},
		"all addresses":        {map[string]string{"ADDR": ":9", "ADMIN_ADDR": "127.0.0.1:9"}, true},
		"all admin addresses":  {map[string]string{"ADDR": "127.0.0.1:9", "ADMIN_ADDR": "[::]:9"}, true},
		"PORT and the default": {map[string]string{"PORT": "8081"}, true},
		"another":              {map[string]string{"ADDR": ":9", "ADMIN_ADDR": ":10"}, false},
		"different addresses":  {map[string]string{"ADDR": "127.0.0.1:9", "ADMIN_ADDR": "127.0.0.2:9"}, false},
		"free ports":           {map[string]string{"ADDR": ":0", "ADMIN_ADDR": ":0"}, false},
		"no admin listener":    {map[string]string{"PORT": "8081", "ADMIN_ADDR": "off"}, false},
		"ADDR overrides PORT":  {map[string]string{"PORT": "8081", "ADDR": ":9"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := checkServe(t, test.environ)
			if same := err != nil && strings.Contains(err.Error(), "has the same port"); same != test.samePort || err != nil && !same {
				t.Errorf("CheckServe: %v, want an error: %t", err, test.samePort)
			}
		})
	}
}

// checkServe loads a configuration, which must be well formed, and returns why no
// server can run by it.
func checkServe(t *testing.T, environ map[string]string) error {
	t.Helper()
	c := must.Get(config.Load(config.Sources{Environ: environ}))(t)
	return c.CheckServe()
}

// TestPprofNeedsAdminListener checks that profiles without an admin listener are refused, in
// addition to other faults.
func TestPprofNeedsAdminListener(t *testing.T) {
	t.Parallel()
	const want = `PPROF (--pprof): "on": ADMIN_ADDR (--admin-addr) is off, but it serves the profiles; ` +
		"give it an address, such as 127.0.0.1:8081, or set PPROF to off"
	if err := checkServe(t, map[string]string{"PPROF": "on", "ADMIN_ADDR": "off"}); err == nil || err.Error() != want {
		t.Errorf("CheckServe: %v, want %s", err, want)
	}
	for _, addr := range []string{":8081", "0.0.0.0:8081", "[::]:8081", "10.0.0.1:8081", "example.com:8081"} {
		want := `PPROF (--pprof): "on": others may reach ADMIN_ADDR (--admin-addr), ` + addr + ", and could take profiles; " +
			"give it a loopback address, such as 127.0.0.1:8081, or set PPROF to off"
		if err := checkServe(t, map[string]string{"PPROF": "on", "ADMIN_ADDR": addr}); err == nil || err.Error() != want {
			t.Errorf("CheckServe: %v, want %s", err, want)
		}
	}
	for _, environ := range []map[string]string{
		{"PPROF": "on"},
		{"ADMIN_ADDR": "off"},
		{"PPROF": "on", "ADMIN_ADDR": "localhost:1"},
		{"PPROF": "on", "ADMIN_ADDR": "[::1]:1"},
	} {
		if err := checkServe(t, environ); err != nil {
			t.Errorf("CheckServe of %v: %v", environ, err)
		}
	}
}
