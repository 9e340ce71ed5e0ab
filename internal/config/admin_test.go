package config_test

import (
	"strings"
	"testing"

	"plantstore/internal/config"
)

// Two listeners of one server must not want the same port.
func TestAdminPort(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		environ map[string]string
		taken   bool
	}{
		"the same":              {map[string]string{"ADDR": "127.0.0.1:9", "ADMIN_ADDR": "127.0.0.1:9"}, true},
		"all addresses":         {map[string]string{"ADDR": ":9", "ADMIN_ADDR": "127.0.0.1:9"}, true},
		"all admin addresses":   {map[string]string{"ADDR": "127.0.0.1:9", "ADMIN_ADDR": "[::]:9"}, true},
		"PORT and the default":  {map[string]string{"PORT": "8081"}, true},
		"another":               {map[string]string{"ADDR": ":9", "ADMIN_ADDR": ":10"}, false},
		"different addresses":   {map[string]string{"ADDR": "127.0.0.1:9", "ADMIN_ADDR": "127.0.0.2:9"}, false},
		"free ports":            {map[string]string{"ADDR": ":0", "ADMIN_ADDR": ":0"}, false},
		"no admin listener":     {map[string]string{"PORT": "8081", "ADMIN_ADDR": "off"}, false},
		"ADDR is stronger than": {map[string]string{"PORT": "8081", "ADDR": ":9"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(config.Sources{Environ: test.environ})
			if taken := err != nil && strings.Contains(err.Error(), "the port is that of ADDR"); taken != test.taken || err != nil && !taken {
				t.Errorf("Load: %v, want an error: %t", err, test.taken)
			}
		})
	}
}
