package cli_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/auth"
)

// token returns the output of plantstore token, which must be exactly one line.
func token(t testing.TB, environ []string, args ...string) string {
	t.Helper()
	printed := output(t, environ, append([]string{"token"}, args...)...)
	line, ended := strings.CutSuffix(printed, "\n")
	if !ended || strings.ContainsAny(line, "\n ") || line == "" {
		t.Fatalf("token prints %q, want one line", printed)
	}
	return line
}

// claims returns the claims of a token, unverified.
func claims(t *testing.T, token string) map[string]any {
	t.Helper()
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	var claims map[string]any
	if err := json.Unmarshal(payload, &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}

// TestTokenIsAccepted checks that the verifier of the server accepts the token, and would not
// without any of the claims that the configuration requires.
func TestTokenIsAccepted(t *testing.T) {
	t.Parallel()
	environ := []string{
		"JWT_SECRET=" + secret, "JWT_ISSUER=me, you", "JWT_AUDIENCE=plants,api", "JWT_SCOPE=plants:create", "JWT_REQUIRE_EXP=true",
	}
	options := auth.Options{
		Keys: []auth.Key{auth.Secret(secret).Key()}, Issuers: []string{"me"}, Audiences: []string{"plants"}, Scope: "plants:create", RequireExp: true,
	}
	subject, err := auth.NewVerifier(options).Verify(token(t, environ, "--subject", "Zoë"))
	if err != nil || subject != "Zoë" {
		t.Errorf("the token is for %q: %v", subject, err)
	}
	for i, name := range []string{"secret", "issuer", "audience", "scope"} {
		less := append(append([]string(nil), environ[:i]...), environ[i+1:]...)
		if name == "secret" {
			less = append(less, "JWT_SECRET=another "+secret)
		}
		if _, err := auth.NewVerifier(options).Verify(token(t, less)); err == nil {
			t.Errorf("a token with another or no %s is accepted", name)
		}
	}
}

func TestTokenClaims(t *testing.T) {
	t.Parallel()
	environ := []string{"JWT_SECRET=" + secret}
	tests := map[string]struct {
		args []string
		want map[string]any // exp, if it is set, is held against the clock
		ttl  time.Duration
	}{
		"by default":     {nil, map[string]any{"sub": "developer"}, 24 * time.Hour},
		"subject":        {[]string{"--subject", "me"}, map[string]any{"sub": "me"}, 24 * time.Hour},
		"without exp":    {[]string{"--ttl", "0"}, map[string]any{"sub": "developer"}, 0},
		"short":          {[]string{"--ttl=90s"}, map[string]any{"sub": "developer"}, 90 * time.Second},
		"issuer by flag": {[]string{"--jwt-issuer", "i"}, map[string]any{"sub": "developer", "iss": "i"}, 24 * time.Hour},
		"audience and scope": {
			[]string{"--jwt-audience", "a", "--jwt-scope", "s"},
			map[string]any{"sub": "developer", "aud": "a", "scope": "s"},
			24 * time.Hour,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			earliest := time.Now().Add(test.ttl).Unix()
			got := claims(t, token(t, environ, test.args...))
			latest := time.Now().Add(test.ttl).Unix()
			if expires, _ := got["exp"].(float64); test.ttl > 0 && (int64(expires) < earliest || int64(expires) > latest) {
				t.Errorf("exp is %v, want %d to %d", got["exp"], earliest, latest)
			}
			if test.ttl > 0 {
				delete(got, "exp")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("claims (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTokenWithoutExp checks that a token that never expires is printed, with a warning if
// servers refuse such tokens.
func TestTokenWithoutExp(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args  []string
		warns bool
	}{
		{[]string{"token", "--ttl", "0"}, true},
		{[]string{"token"}, false},
	} {
		r := run(t, []string{"JWT_SECRET=" + secret, "JWT_REQUIRE_EXP=true"}, test.args...)
		if r.code != 0 || r.stdout == "" || strings.HasPrefix(r.stderr, "plantstore: the token never expires") != test.warns {
			t.Errorf("%q: %+v", test.args, r)
		}
	}
}

// TestSecretIsMadeOnce checks that without a secret one is generated next to the path of the
// database, which is not created, and used from then on.
func TestSecretIsMadeOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	path := filepath.Join("deep", "er", "jwt-secret")
	r := run(t, nil, "token", "--storage-url", "deep/er/plants.db")
	if r.code != 0 || r.stderr != "plantstore: there is no database deep/er/plants.db yet: a new secret was made in "+path+
		", for a server that is started on it\n" {
		t.Fatalf("token: %+v", r)
	}
	first := strings.TrimSuffix(r.stdout, "\n")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 {
		t.Errorf("the mode of the secret is %v, want that only its owner can read it", info.Mode())
	}
	made, err := auth.ReadSecrets(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, issued := range []string{first, token(t, nil, "--storage-url", "deep/er/plants.db")} {
		if _, err := auth.NewVerifier(auth.Options{Keys: []auth.Key{made[0].Key()}}).Verify(issued); err != nil {
			t.Errorf("the token is not signed with the secret in the file: %v", err)
		}
		if strings.Contains(issued, string(made[0])) {
			t.Error("the token contains the secret")
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); len(entries) != 1 || err != nil {
		t.Errorf("files other than the secret: %v, %v", entries, err)
	}
}

// TestSecretIsGeneratedNextToDatabase checks that a secret that is generated next to an
// existing database is reported, too: its server had another one.
func TestSecretIsGeneratedNextToDatabase(t *testing.T) {
	t.Chdir(t.TempDir())
	path := filepath.Join(filepath.Dir(plantsDB(t)), "jwt-secret")
	if r := run(t, nil, "token"); r.code != 0 || r.stderr != "plantstore: a new secret was made in "+path+
		", next to an existing database: tokens signed with another secret are refused\n" {
		t.Errorf("token: %+v", r)
	}
}

func TestSecretFile(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "key", secret+"\n")
	issued := token(t, nil, "--jwt-secret-file", "key")
	if _, err := auth.NewVerifier(auth.Options{Keys: []auth.Key{auth.Secret(secret).Key()}}).Verify(issued); err != nil {
		t.Error(err)
	}
}

// TestWrongSecrets checks that each fault of the secret is reported in one line, without the
// secret.
func TestWrongSecrets(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "weak", "hunter2\n")
	const weak = "the secret is too weak: it has 7 bytes, HS256 needs at least 32; make one with: openssl rand -hex 32"
	tests := map[string]struct {
		environ []string
		want    string
		serve   string // instead of want, if the storage fails first
	}{
		"weak":         {[]string{"JWT_SECRET=hunter2"}, "JWT_SECRET: " + weak, ""},
		"redacted":     {[]string{"JWT_SECRET=REDACTED"}, "JWT_SECRET: " + strings.Replace(weak, "7", "8", 1), ""},
		"weak file":    {[]string{"JWT_SECRET_FILE=weak"}, "JWT_SECRET_FILE: weak: line 1: " + weak, ""},
		"no file":      {[]string{"JWT_SECRET_FILE=none"}, "JWT_SECRET_FILE: no such file or directory (its name is not shown, as it may be a secret); name the file with the secret, or make one with: openssl rand -hex 32", ""},
		"directory":    {[]string{"JWT_SECRET_FILE=."}, "JWT_SECRET_FILE: read .: *", ""},
		"no directory": {[]string{"STORAGE_URL=weak/plants.db"}, "the directory of the database: mkdir *", "database weak/plants.db cannot be opened: *"},
		"not writable": {
			[]string{"STORAGE_URL=/proc/plants.db"},
			"the secret next to the database: create /proc/jwt-secret: *",
			"database /proc/plants.db cannot be opened: *",
		},
	}
	for name, test := range tests {
		for _, command := range []string{"token", "serve"} {
			if name == "not writable" && runtime.GOOS != "linux" {
				continue
			}
			t.Run(command+" "+name, func(t *testing.T) {
				args := []string{command}
				want := test.want
				if command == "serve" {
					args = append(args, "--addr=127.0.0.1:0", "--admin-addr=127.0.0.1:0")
					if test.serve != "" {
						want = test.serve
					}
				}
				code := 1
				if strings.HasPrefix(want, "storage URL") || strings.HasPrefix(want, "JWT_SECRET: ") || strings.HasPrefix(want, "JWT_SECRET_FILE: ") {
					code = 2
				}
				checkFailure(t, run(t, test.environ, args...), code, want)
			})
		}
	}
}

// TestLinkOfRunningServer checks that the link leads to the server that runs on the database,
// whatever its port.
func TestLinkOfRunningServer(t *testing.T) {
	t.Chdir(t.TempDir())
	base := startServer(t, "plantstore", nil, "--addr", "127.0.0.1:0").ready(t).BaseURL
	if got, want := output(t, nil, "token", "--link"), base+"/docs#token="; !strings.HasPrefix(got, want) {
		t.Errorf("the link begins with %.40q, want %q", got, want)
	}
}
