package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEphemeral checks that an ephemeral server is a complete one, but keeps only its secret, next to
// the configured database.
func TestEphemeral(t *testing.T) {
	samples, err := filepath.Abs("../../docs/samples/plants.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	s := startServer(t, "plantstore", nil, "--ephemeral", "--seed", samples)
	ready := s.ready(t)
	if !strings.HasPrefix(ready.Data, temporary) {
		t.Errorf("the plants are in %s, want a directory in %s", ready.Data, temporary)
	}
	if ready.TokenCommand != "plantstore token" {
		t.Errorf("the command for a token is %s", ready.TokenCommand)
	}
	issued := token(t, nil)
	if status, body := post(t, ready.BaseURL, issued, `{"id":101,"name":"Monstera"}`); status != 200 {
		t.Errorf("response %d %s", status, body)
	}
	if got := output(t, nil, "plants", "count"); got != "101\n" {
		t.Errorf("there are %q plants, want 101", got)
	}
	if code := s.stop(); code != 0 || !strings.Contains(s.log(), `"msg":"seeded"`) {
		t.Errorf("exit code %d, log:\n%s", code, s.log())
	}
	for dir, want := range map[string]int{"data": 1, temporary: 0} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != want {
			t.Errorf("%s holds %v, %v, want %d files", dir, entries, err, want)
		}
	}
	if status, body := post(t, startServer(t, "plantstore", nil).ready(t).BaseURL, issued, `{"id":1,"name":"a"}`); status != 200 {
		t.Errorf("the next server refuses the token: %d %s", status, body)
	}
}

// TestEphemeralWithoutDirectory checks that an ephemeral server starts where it cannot store its
// secret and says where tokens come from.
func TestEphemeralWithoutDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "data", "a file in place of the directory")
	s := startServer(t, "plantstore", nil, "--ephemeral")
	if got := s.ready(t).TokenCommand; got != "" {
		t.Errorf("the command for a token is %s, want none", got)
	}
	s.stop()
	if !strings.Contains(s.log(), `"msg":"secret in memory"`) {
		t.Errorf("the log is\n%s", s.log())
	}
	banner := startServer(t, "plantstore", nil, "--ephemeral", "--log-format", "text")
	banner.stop()
	if want := "get a token  (use the link: the secret is only in memory)\n"; !strings.Contains(banner.first+banner.log(), want) {
		t.Errorf("the banner is\n%s", banner.first+banner.log())
	}
}

func TestSeed(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "seed.csv", "id,name\n1,Aloe\n2,Ficus\n")
	stored(t, record(1, "another", "-"))
	for _, want := range []string{`"created":1,"identical":0,"skipped":1`, `"created":0,"identical":1,"skipped":1`} {
		s := startServer(t, "plantstore", nil, "--seed", "seed.csv")
		s.ready(t)
		if code := s.stop(); code != 0 || !strings.Contains(s.log(), want) {
			t.Errorf("exit code %d, want %s in the log:\n%s", code, want, s.log())
		}
	}
	writeFile(t, "bad.csv", "id,name\n3,Aloe\nx,Ficus\n")
	r := run(t, nil, "serve", "--addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0", "--seed", "bad.csv")
	if r.code != 3 || r.stderr != "bad.csv:3: id: must be an integer, not a string\n"+
		"plantstore: --seed: bad.csv has 1 bad line: fix the file and start again\n" {
		t.Errorf("a seed with a bad line: %+v", r)
	}
	checkFailure(t, run(t, nil, "serve", "--addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0", "--seed", "no.csv"), 1,
		"--seed: import no.csv: no such file or directory; name a file of plants, JSON or CSV, or - for stdin")
}
