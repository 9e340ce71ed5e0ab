package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// linters returns the linters of OpenAPI descriptions, each with the arguments that enable
// every recommended rule and make it fail on any finding.
func linters() map[string][]string {
	return map[string][]string{
		"redocly":  {"lint", "--config", "redocly.yaml"},
		"spectral": {"lint", "--ruleset", "spectral.yaml", "--fail-severity", "hint"},
	}
}

func TestLinters(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{})
	for tool, args := range linters() {
		for _, file := range []string{"openapi.yaml", "openapi.json"} {
			t.Run(tool+" "+file, func(t *testing.T) {
				t.Parallel()
				description := get(t, server, server.BaseURL+"/"+file)
				if findings, err := lint(t, tool, args, file, description); err != nil {
					t.Errorf("%v\n%s", err, findings)
				}
			})
		}
	}
}

// TestLintersFindSomething checks that the linters can fail: with wrong rules, or without a
// file, they would have no findings either.
func TestLintersFindSomething(t *testing.T) {
	t.Parallel()
	description := printed(t, "yaml")
	tests := map[string]struct {
		written, doctored string
		rules             map[string]string // linters that report it
	}{
		"no operationId": {
			"      operationId: createPlant\n", "",
			map[string]string{"redocly": "operation-operationId", "spectral": "operation-operationId"},
		},
		"wrong example": {
			"error: 505\n", "error: 506\n",
			map[string]string{"redocly": "no-invalid-media-type-examples", "spectral": "oas3-valid-media-example"},
		},
	}
	for name, tt := range tests {
		for tool, args := range linters() {
			t.Run(tool+" "+name, func(t *testing.T) {
				t.Parallel()
				doctored := strings.Replace(string(description), tt.written, tt.doctored, 1)
				findings, err := lint(t, tool, args, "openapi.yaml", []byte(doctored))
				if err == nil || !strings.Contains(findings, tt.rules[tool]) {
					t.Errorf("not found by %s: %v\n%s", tt.rules[tool], err, findings)
				}
			})
		}
	}
}

// lint returns the output of the linter for the description, and an error if it has
// findings.
func lint(t *testing.T, tool string, args []string, name string, description []byte) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, description, 0o600))
	cmd := exec.CommandContext(t.Context(), tools.Require(t, tool), append(args, path)...)
	cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestPrintedDescriptionIsTheServedOne(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{})
	for _, format := range []string{"yaml", "json"} {
		served := get(t, server, server.BaseURL+"/openapi."+format)
		if want := printed(t, format, "BASE_URL="+server.BaseURL); !bytes.Equal(served, want) {
			t.Errorf("%s: the served description is not the printed one", format)
		}
	}
}

// printed returns the output of plantstore openapi.
func printed(t *testing.T, format string, env ...string) []byte {
	t.Helper()
	out, err := plantstore.Command(t, t.TempDir(), env, "openapi", "--format", format).Output()
	if err != nil {
		t.Fatalf("plantstore openapi: %v", err)
	}
	return out
}
