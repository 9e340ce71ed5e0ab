package clients

import (
	"strings"
	"testing"

	"plantstore/e2e/internal/tools"
)

// TestResetBetweenRuns checks that tools that send the same plants in each run pass twice in a
// row if the server is reset in between, and fail without a reset.
func TestResetBetweenRuns(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		run  func(w *fixture) (string, error)
		want string // part of the output
	}{
		"Dredd": {
			run: func(w *fixture) (string, error) {
				return w.try("dredd", "openapi.yaml", w.server.BaseURL, "--only", "/plants > Create a plant > 200 > application/json",
					"--loglevel", "error", "--header", "Authorization: Bearer "+w.token)
			},
			want: "1 passing, 0 failing",
		},
		"Portman": {
			run: func(w *fixture) (string, error) {
				w.write("portman.json", sectionOf(w.t, "Run Dredd and Portman").files()["portman.json"])
				w.write("token.env", "PORTMAN_BEARER_TOKEN="+w.token+"\n")
				return w.try("portman", "-l", "openapi.yaml", "-b", w.server.BaseURL, "-c", "portman.json", "--envFile", "token.env", "-o", "plants.json", "-n")
			},
			want: "Schema is valid",
		},
		"Requests": {
			run: func(w *fixture) (string, error) {
				w.write("plants.py", sectionOf(w.t, "Python").files()["plants.py"])
				tools.Require(w.t, "http") // Python with Requests
				return w.try("/usr/bin/python3", "plants.py")
			},
			want: "200 Wolffia arrhiza",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, "--ephemeral")
			w.write("openapi.yaml", w.run("curl", "--silent", "--fail", w.server.DescriptionURL))
			for n := range 3 {
				out, err := test.run(w)
				if passes := err == nil && strings.Contains(out, test.want); passes != (n < 2) {
					t.Errorf("run %d passes: %t, %v, %q in\n%s", n+1, passes, err, test.want, out)
				}
				if n == 0 {
					w.run("curl", "--silent", "--fail", "-X", "POST", w.server.AdminURL+"/reset")
				}
			}
		})
	}
}
