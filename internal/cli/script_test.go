package cli_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	options "plantstore/internal/config"
)

// TestScripts runs the scripts in testdata/script, and those in testdata/both twice: with the closed
// database, and while a server has it open. The program runs in this process. The scripts use the
// commands of testscript and these:
//
//	prints ARGUMENT...                run plantstore, which must exit with 0 and print nothing on stderr
//	exits CODE ARGUMENT...            run plantstore, which must exit with that code
//	fails CODE LINE... : ARGUMENT...  run plantstore, which must exit with that code, and print only these lines
//	                                  on stderr, after its name; a final * stands for anything
//	serve ARGUMENT...                 start plantstore serve on free ports, in $HOST, $HTTP_PORT, $URL and $ADMIN; its banner is stdout
//	sigterm                           end it as that signal does, with exit code 0; its log is stderr
//	served                            serve, if the script is to run with a server
//	token ARGUMENT...                 set $TOKEN to the output of plantstore token
//	[!] create PLANT                  send a plant, which must be created, or refused; the response is stdout
//	replace OLD NEW FILE              replace bytes in a file
//	keypair NAME [KID]                write a new private key to NAME.pem and its public key to NAME.pub, or as a JWK Set to NAME.json
//
// A last ARGUMENT such as <FILE is stdin. Only variables that are options of the program, and a few others, are in its environment.
func TestScripts(t *testing.T) {
	for name, test := range map[string]struct {
		dir    string
		served bool
	}{"once": {"script", false}, "file": {"both", false}, "server": {"both", true}} {
		t.Run(name, func(t *testing.T) {
			testscript.RunT(serial{t}, testscript.Params{
				Dir: filepath.Join("testdata", test.dir),
				Setup: func(env *testscript.Env) error {
					env.Values[storyKey{}] = &story{t: env.T().(serial).T, served: test.served}
					env.Setenv("SAMPLES", filepath.Join(root, "docs", "samples", "plants.jsonl"))
					env.Setenv("LONG", strings.Repeat("a", 100))
					return nil
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"prints": prints, "exits": exits, "fails": fails, "serve": serve, "sigterm": sigterm, "served": served,
					"token": setToken, "create": create, "replace": replace, "keypair": keypair,
				},
				RequireUniqueNames: true,
			})
		})
	}
}

// root is the absolute path of the project.
var root = func() string {
	path, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return path
}()

// A serial runs scripts one after the other, since each has its own working directory.
type serial struct{ *testing.T }

func (serial) Parallel() {}

func (serial) Verbose() bool { return testing.Verbose() }

func (s serial) Run(name string, script func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) {
		t.Chdir(".")
		script(serial{t})
	})
}

// A story is the state that the commands of one script share.
type story struct {
	t      *testing.T
	served bool
	server server // the most recently started server
}

// storyKey is the key of the story in the values of a script.
type storyKey struct{}

// enter changes into the directory of the script, and returns its story and its environment.
func enter(ts *testscript.TestScript) (s *story, environ []string) {
	ts.Check(os.Chdir(ts.MkAbs(".")))
	names := []string{"TOKEN", "ADMIN_ADR", "JWT_SCOP"} // two are misspelled
	for _, o := range options.Options() {
		names = append(names, o.Env)
	}
	for _, name := range names {
		if value := ts.Getenv(name); value != "" {
			environ = append(environ, name+"="+value)
		}
	}
	return ts.Value(storyKey{}).(*story), environ
}

// runLine runs the program with the arguments of a line.
func runLine(ts *testscript.TestScript, args []string) result {
	s, environ := enter(ts)
	stdin := ""
	if last := len(args) - 1; last >= 0 && strings.HasPrefix(args[last], "<") {
		stdin, args = ts.ReadFile(args[last][1:]), args[:last]
	}
	r := runWith(s.t, environ, stdin, args...)
	fmt.Fprint(ts.Stdout(), r.stdout)
	fmt.Fprint(ts.Stderr(), r.stderr)
	return r
}

func prints(ts *testscript.TestScript, _ bool, args []string) {
	if r := runLine(ts, args); r.code != 0 || r.stderr != "" {
		ts.Fatalf("exit code %d, want 0; stderr:\n%s", r.code, r.stderr)
	}
}

func exits(ts *testscript.TestScript, _ bool, args []string) {
	if r := runLine(ts, args[1:]); strconv.Itoa(r.code) != args[0] {
		ts.Fatalf("exit code %d, want %s; stderr:\n%s", r.code, args[0], r.stderr)
	}
}

func fails(ts *testscript.TestScript, _ bool, args []string) {
	code, err := strconv.Atoi(args[0])
	ts.Check(err)
	colon := slices.Index(args, ":")
	if problem := runLine(ts, args[colon+1:]).failure(code, args[1:colon]...); problem != "" {
		ts.Fatalf("%s", problem)
	}
}

func serve(ts *testscript.TestScript, _ bool, args []string) {
	s, environ := enter(ts)
	s.server = startServer(s.t, environ, args...)
	ts.Defer(func() { s.server.stop() })
	fmt.Fprint(ts.Stdout(), s.server.first)
	if strings.HasPrefix(s.server.first, "{") {
		ready := s.server.ready(s.t)
		ts.Setenv("URL", ready.BaseURL)
		ts.Setenv("HOST", strings.TrimPrefix(ready.BaseURL, "http://"))
		_, port, _ := net.SplitHostPort(ready.Addr)
		ts.Setenv("HTTP_PORT", port)
		ts.Setenv("ADMIN", strings.TrimPrefix(ready.AdminURL, "http://"))
	}
}

func served(ts *testscript.TestScript, neg bool, args []string) {
	if ts.Value(storyKey{}).(*story).served {
		serve(ts, neg, args)
	}
}

func sigterm(ts *testscript.TestScript, _ bool, _ []string) {
	s, _ := enter(ts)
	if s.server.stop == nil {
		return // served, without a server
	}
	code, log := s.server.stop(), s.server.first+s.server.log()
	fmt.Fprint(ts.Stderr(), log)
	if code != 0 {
		ts.Fatalf("the server ended with %d:\n%s", code, log)
	}
}

func setToken(ts *testscript.TestScript, _ bool, args []string) {
	r := runLine(ts, append([]string{"token"}, args...))
	if r.code != 0 {
		ts.Fatalf("exit code %d", r.code)
	}
	ts.Setenv("TOKEN", strings.TrimSuffix(r.stdout, "\n"))
}

func create(ts *testscript.TestScript, neg bool, args []string) {
	s, _ := enter(ts)
	status, body := post(s.t, ts.Getenv("URL"), ts.Getenv("TOKEN"), args[0])
	fmt.Fprint(ts.Stdout(), body)
	if (status != 200) != neg {
		ts.Fatalf("the response is %d %s", status, body)
	}
}

func replace(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[2])
	text, err := os.ReadFile(file)
	ts.Check(err)
	changed := bytes.ReplaceAll(text, []byte(args[0]), []byte(args[1]))
	if bytes.Equal(text, changed) {
		ts.Fatalf("%s has no %s", file, args[0])
	}
	ts.Check(os.WriteFile(file, changed, 0o600))
}

func keypair(ts *testscript.TestScript, _ bool, args []string) {
	s, _ := enter(ts)
	if len(args) > 1 {
		writeFile(s.t, args[0]+".json", ed25519Set(s.t, args[0], args[1]))
		return
	}
	writeKeyPair(s.t, args[0])
}
