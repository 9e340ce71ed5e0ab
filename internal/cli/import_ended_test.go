package cli_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"plantstore/internal/cli"
)

// TestImportOutlivesServer checks that an import through a server that exits fails with a
// remedy, and without implementation details of Go. Run again, it continues, with the file
// itself.
func TestImportOutlivesServer(t *testing.T) {
	t.Chdir(t.TempDir())
	stored(t)
	const lines, later = 50_000, 100_000
	var text strings.Builder
	for id := range lines + later {
		fmt.Fprintf(&text, "{\"id\":%d,\"name\":\"a\"}\n", id)
	}
	all := text.String()
	before := strings.Index(all, fmt.Sprintf(`{"id":%d,`, lines))
	server := startServer(t, "plantstore", nil)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stdout, stderr strings.Builder
	code := cli.Main(ctx, cli.Process{
		Args:   []string{"plantstore", "plants", "import", "-"},
		Stdin:  io.MultiReader(strings.NewReader(all[:before]), &onRead{do: func() { server.stop() }}, strings.NewReader(all[before:])),
		Stdout: &stdout, Stderr: &stderr,
	})
	printed := stderr.String()
	if code != 1 || !strings.HasPrefix(printed, "plantstore: import -: line ") ||
		!strings.HasSuffix(printed, " stored: see the log of the server, restart or stop it, and run the import again to continue\n") {
		t.Errorf("exit code %d, stdout %q, stderr:\n%s", code, stdout.String(), printed)
	}
	for _, word := range []string{"EOF", "broken pipe", "connection reset", "context canceled"} {
		if strings.Contains(printed, word) {
			t.Errorf("it prints %q:\n%s", word, printed)
		}
	}
	server.stop() // waits: the import may have failed while the server was closing its database
	writeFile(t, "all.jsonl", all)
	output(t, nil, "plants", "import", "--quiet", "all.jsonl")
	if got := output(t, nil, "plants", "count"); got != fmt.Sprintln(lines+later) {
		t.Errorf("there are %s plants, want %d", got, lines+later)
	}
}

// An onRead is an empty reader that calls a function first.
type onRead struct{ do func() }

func (r *onRead) Read([]byte) (int, error) {
	r.do()
	return 0, io.EOF
}

// TestImportAdvises checks that the remedy for bad lines depends on their faults.
func TestImportAdvises(t *testing.T) {
	t.Chdir(t.TempDir())
	stored(t, record(1, "a", "-"), record(2, "b", "-"))
	const bad, taken = "{}\n", `{"id":1,"name":"other"}` + "\n"
	for lines, want := range map[string]string{
		bad:                 "1 bad line was left out: fix and import them again",
		bad + bad:           "2 bad lines were left out: fix and import them again",
		taken:               "1 bad line was left out: replace taken ids, or skip them with --on-conflict skip",
		bad + taken + taken: "3 bad lines were left out: fix and import them again; replace taken ids, or skip them with --on-conflict skip",
	} {
		r := runWith(t, nil, lines, "plants", "import", "--quiet", "-")
		if r.code != 3 || !strings.HasSuffix(r.stderr, "\nplantstore: "+want+"\n") {
			t.Errorf("%q: %+v, want 3 and at last: %s", lines, r, want)
		}
	}
	r := runWith(t, nil, "id,name\n5,\"open\n", "plants", "import", "--format", "csv", "-")
	if r.code == 0 || strings.Contains(r.stderr, "run it again") {
		t.Errorf("a quotation mark that is left open: %+v", r)
	}
}
