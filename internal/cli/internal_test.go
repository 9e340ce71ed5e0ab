package cli

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestCommandLine checks how the commands of the banner are quoted for the shells of each system.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ words, posix, windows string }{
		{"plantstore|token", "plantstore token", "plantstore token"},
		{`.\plantstore.exe|token|--jwt-issuer=`, `'.\plantstore.exe' token '--jwt-issuer='`, `.\plantstore.exe token --jwt-issuer=`},
		{"/my plants/it's|token", `'/my plants/it'\''s' token`, `powershell -Command "& '/my plants/it''s' 'token'"`},
		{`Z:\My Plants\ps.exe|token|--jwt-scope|a b`, `'Z:\My Plants\ps.exe' token --jwt-scope 'a b'`, `powershell -Command "& 'Z:\My Plants\ps.exe' 'token' '--jwt-scope' 'a b'"`},
		{`C:\ps.exe|--storage-url|bbolt:C:\My Plants\p.db`, `'C:\ps.exe' --storage-url 'bbolt:C:\My Plants\p.db'`, `C:\ps.exe --storage-url "bbolt:C:\My Plants\p.db"`},
		{`ps|--jwt-audience|a,b`, "ps --jwt-audience a,b", `ps --jwt-audience "a,b"`},
		{"ps|--jwt-audience|$a`", "ps --jwt-audience '$a`'", "ps --jwt-audience \"`$a``\""},
	} {
		for goos, want := range map[string]string{"linux": test.posix, "windows": test.windows} {
			if got := commandLine(goos, strings.Split(test.words, "|")...); got != want {
				t.Errorf("%s on %s: %s, want %s", test.words, goos, got, want)
			}
		}
	}
}

// TestCommandOfService checks that root gets a token in the directory and as the user of a system service. Commands name the
// program as it was started.
func TestCommandOfService(t *testing.T) {
	t.Chdir(t.TempDir())
	dir, _ := os.Getwd()
	for _, test := range []struct {
		environ []string
		want    string
	}{
		{nil, "A=1 "},
		{[]string{"NOTIFY_SOCKET=/run/n", "USER=plants tore"}, "cd " + dir + " && A=1 runuser -u 'plants tore' -- "},
		{[]string{"NOTIFY_SOCKET=/run/n", "USER=root"}, "cd " + dir + " && A=1 "},
		{[]string{"NOTIFY_SOCKET=/run/n", "USER=me", "XDG_RUNTIME_DIR=/run/user/7"}, "A=1 "},
	} {
		p := &Process{Environ: test.environ}
		if got := asService(p.environ(), "A=1 "); got != test.want {
			t.Errorf("%v: %q, want %q", test.environ, got, test.want)
		}
	}
	if got := program(&Process{Name: "plantstore", Args: []string{"./my plants"}}); len(got) != 1 || got[0] != "./my plants" {
		t.Errorf("the program is %q, want its name as it was started", got)
	}
}

// TestPosition checks that a follower of requests continues after the last one that it has seen, but from the
// first one on after a restart of the server.
func TestPosition(t *testing.T) {
	var p position
	for _, step := range []struct {
		server int64 // when it started
		want   string
		seen   int64
	}{
		{1, "after=0&wait=0s", 7}, {1, "after=7&wait=30s", 8}, {1, "after=8&wait=30s", 8}, {2, "after=0&wait=30s", 3}, {2, "after=3&wait=30s", 3},
	} {
		if got := p.query(time.Unix(step.server, 0).UTC()); got != step.want {
			t.Errorf("%d: %s, want %s", step.server, got, step.want)
		}
		p.number = step.seen
	}
}
