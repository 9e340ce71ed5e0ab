package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// TestLinters checks that the served description is the printed one, and that linters, with every
// recommended rule, find nothing in it. They can fail: with wrong rules, or without a file, they would
// find nothing either.
func TestLinters(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{})
	files := map[string]string{}
	for _, format := range []string{"yaml", "json"} {
		served := server.Get(server.BaseURL + "/openapi." + format).Body
		if served != printed(t, format, "BASE_URL="+server.BaseURL) {
			t.Errorf("%s: the served description is not the printed one", format)
		}
		files["openapi."+format] = served
	}
	files["doctored.yaml"] = strings.NewReplacer("      operationId: createPlant\n", "", "error: 505\n", "error: 506\n").Replace(files["openapi.yaml"])
	for _, tt := range []struct{ command, rules string }{
		{"redocly lint --config redocly.yaml", "operation-operationId no-invalid-media-type-examples"},
		{"spectral lint --ruleset spectral.yaml --fail-severity hint", "operation-operationId oas3-valid-media-example"},
	} {
		for name, description := range files {
			t.Run(tt.command+" "+name, func(t *testing.T) {
				t.Parallel()
				path, args := filepath.Join(t.TempDir(), name), strings.Fields(tt.command)
				must.Do(t, os.WriteFile(path, []byte(description), 0o600))
				cmd := exec.CommandContext(t.Context(), tools.Require(t, args[0]), append(args[1:], path)...)
				cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
				findings, err := cmd.CombinedOutput()
				doctored := name == "doctored.yaml"
				if (err != nil) != doctored {
					t.Errorf("%v\n%s", err, findings)
				}
				for rule := range strings.FieldsSeq(tt.rules) {
					if strings.Contains(string(findings), rule) != doctored {
						t.Errorf("reported by %s: %t\n%s", rule, !doctored, findings)
					}
				}
			})
		}
	}
}

// printed returns the output of plantstore openapi.
func printed(t *testing.T, format string, env ...string) string {
	t.Helper()
	out, err := plantstore.Command(t, t.TempDir(), env, "openapi", "--format", format).Output()
	if err != nil {
		t.Fatalf("plantstore openapi: %v", err)
	}
	return string(out)
}
