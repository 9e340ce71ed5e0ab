// Package scripts runs user stories with the real binary.
package scripts

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
)

func TestMain(m *testing.M) { os.Exit(plantstore.Main(m)) }

// TestScripts runs the scripts in this directory, which use the commands of testscript and
// these, for the program under test. None may have the name of a command of testscript, such as
// stop, which would run instead:
//
//	exits CODE ARGUMENT...  run plantstore, which must end with that code
//	serve ARGUMENT...       start plantstore serve on a free port, named by $URL and $HOST; $ADMIN is the admin listener's
//	sigterm                 send it SIGTERM, upon which it must exit with 0; its log is stderr
//	sigkill                 end it as kill -9 does
//	token ARGUMENT...       set $TOKEN to the output of plantstore token
//	[!] create PLANT        send it a plant, which must be created, or refused; the response is stdout
//	request METHOD URL      send a request without a body; the body of the response is stdout
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:   ".",
		Setup: setUpStory,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"serve":   serve,
			"sigterm": sigterm,
			"sigkill": sigkill,
			"token":   token,
			"create":  create,
			"request": request,
		},
		RequireUniqueNames: true,
	})
}

// A story is the state that the commands of one script share.
type story struct {
	t      testing.TB
	server *plantstore.Server // the most recently started server
}

// storyKey is the key of the story in the values of a script.
type storyKey struct{}

// setUpStory puts the program under test on the PATH, and the name of the file with
// the sample plants into $SAMPLES.
func setUpStory(env *testscript.Env) error {
	t := env.T().(testing.TB)
	program := plantstore.Command(t, env.WorkDir, nil)
	env.Vars = append(program.Env, env.Vars...)
	env.Setenv("PATH", filepath.Dir(program.Path)+string(filepath.ListSeparator)+env.Getenv("PATH"))
	env.Setenv("SAMPLES", filepath.Join(tools.Project(t), "docs", "samples", "plants.jsonl"))
	env.Values[storyKey{}] = &story{t: t}
	return nil
}

func storyOf(ts *testscript.TestScript) *story { return ts.Value(storyKey{}).(*story) }

func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	err = ts.Exec("plantstore", args[1:]...)
	if ended := new(exec.ExitError); errors.As(err, &ended) {
		err, code = nil, ended.ExitCode()
	}
	ts.Check(err)
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

func serve(ts *testscript.TestScript, _ bool, args []string) {
	s := storyOf(ts)
	ts.Check(ts.Exec("env"))
	s.server = plantstore.Start(s.t, plantstore.Options{
		Dir:  ts.MkAbs("."),
		Env:  strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n"),
		Args: args,
	})
	ts.Setenv("URL", s.server.BaseURL)
	ts.Setenv("HOST", strings.TrimPrefix(s.server.BaseURL, "http://"))
	ts.Setenv("ADMIN", strings.TrimPrefix(s.server.AdminURL, "http://"))
}

func sigterm(ts *testscript.TestScript, _ bool, _ []string) {
	s := storyOf(ts)
	s.server.Stop()
	fmt.Fprint(ts.Stderr(), s.server.Log())
}

func sigkill(ts *testscript.TestScript, _ bool, _ []string) { storyOf(ts).server.Kill() }

func token(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Exec("plantstore", append([]string{"token"}, args...)...))
	ts.Setenv("TOKEN", strings.TrimSuffix(ts.ReadFile("stdout"), "\n"))
}

func create(ts *testscript.TestScript, neg bool, args []string) {
	r, err := plantstore.Post(storyOf(ts).t.Context(), http.DefaultClient, ts.Getenv("URL"), ts.Getenv("TOKEN"), args[0])
	ts.Check(err)
	fmt.Fprint(ts.Stdout(), r.Body)
	if want := map[bool]int{false: http.StatusOK, true: http.StatusBadRequest}[neg]; r.Status != want {
		ts.Fatalf("the response is %d, want %d", r.Status, want)
	}
}

func request(ts *testscript.TestScript, _ bool, args []string) {
	r, err := plantstore.Do(storyOf(ts).t.Context(), http.DefaultClient, args[0], args[1], "")
	ts.Check(err)
	fmt.Fprint(ts.Stdout(), r.Body)
}
