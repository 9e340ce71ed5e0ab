package cli_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestOpenAPI checks that the description names the server that the configuration is for.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		environ []string
		args    []string
		server  string
	}{
		"by default": {nil, nil, "http://127.0.0.1:8080"},
		"address":    {[]string{"ADDR=:9090"}, nil, "http://localhost:9090"},
		"IPv6":       {nil, []string{"--addr", "[::]:80"}, "http://localhost:80"},
		"zone":       {nil, []string{"--addr", "[fe80::1%eth0]:80"}, "http://[fe80::1%25eth0]:80"},
		"base URL":   {[]string{"BASE_URL=https://plants.example/v1/"}, nil, "https://plants.example/v1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			printed := output(t, test.environ, append([]string{"openapi", "--format", "json"}, test.args...)...)
			var description struct {
				OpenAPI string                 `json:"openapi"`
				Servers []struct{ URL string } `json:"servers"`
			}
			if err := json.Unmarshal([]byte(printed), &description); err != nil {
				t.Fatal(err)
			}
			if len(description.Servers) != 1 || description.Servers[0].URL != test.server || description.OpenAPI != "3.1.0" {
				t.Errorf("OpenAPI %s of %v, want 3.1.0 of %s", description.OpenAPI, description.Servers, test.server)
			}
			yaml := output(t, test.environ, append([]string{"openapi"}, test.args...)...)
			if !strings.HasPrefix(yaml, "openapi: 3.1.0\n") && !strings.Contains(yaml, "\nopenapi: 3.1.0\n") ||
				!strings.Contains(yaml, test.server) {
				t.Errorf("this is not the description as YAML:\n%.200s", yaml)
			}
		})
	}
}
