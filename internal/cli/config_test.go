package cli_test

import (
	"strings"
	"testing"
)

func TestConfig(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, ".env", "ADDR=:1\nJWT_ISSUER=dotenv\nJWT_AUDIENCE=dotenv\nJWT_SECRET="+secret+"\n")
	environ := []string{"JWT_ISSUER=environment", "JWT_AUDIENCE=environment", "PORT=", "=odd", "odd"}
	printed := output(t, environ, "config", "--jwt-audience", "two words", "--jwt-require-exp", "--addr=:2", "--addr=:3")
	for _, line := range []string{
		"ADDR=:3", "JWT_ISSUER=environment", "JWT_AUDIENCE='two words'", "JWT_REQUIRE_EXP=true", "JWT_SECRET=REDACTED",
		"STORAGE_URL=bbolt:data/plants.db",
	} {
		if !strings.Contains("\n"+printed, "\n"+line+"\n") {
			t.Errorf("no line %s in\n%s", line, printed)
		}
	}
	if strings.Contains(printed, secret) {
		t.Errorf("the secret is printed:\n%s", printed)
	}

	writeFile(t, ".env", printed)
	if again := output(t, nil, "config"); again != printed {
		t.Errorf("loaded back it prints\n%s, want\n%s", again, printed)
	}
}

// TestSwitches checks that a switch is on without a value, and off with false, against all
// other sources.
func TestSwitches(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"--jwt-require-exp": "true", "--jwt-require-exp=true": "true", "--jwt-require-exp=false": "false",
	}
	for flag, want := range tests {
		printed := output(t, []string{"JWT_REQUIRE_EXP=true"}, "config", flag)
		if !strings.Contains(printed, "\nJWT_REQUIRE_EXP="+want+"\n") {
			t.Errorf("with %s the configuration is\n%s", flag, printed)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{"version", "--version", "-v"} {
		if got := output(t, nil, arg); !strings.HasPrefix(got, "plantstore v1.2.3 (abc) go1.") || strings.Count(got, "\n") != 1 {
			t.Errorf("%s prints %q", arg, got)
		}
	}
}
