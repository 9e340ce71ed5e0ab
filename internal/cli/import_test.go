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
		Name: "plantstore", Engines: engines(),
		Args:   []string{"plantstore", "plants", "import", "-"},
		Stdin:  io.MultiReader(strings.NewReader(all[:before]), &onRead{do: func() { server.stop() }}, strings.NewReader(all[before:])),
		Stdout: &stdout, Stderr: &stderr,
	})
	printed := stderr.String()
	if code != 1 || !strings.HasPrefix(printed, "plantstore: import -: line ") ||
		!strings.HasSuffix(printed, " stored: run the import again to continue\n") {
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

// TestImportKeepsMaxBodyBytes checks that a line that would be error 413 for POST is bad, by the
// limit of the command and by the limit of the running server.
func TestImportKeepsMaxBodyBytes(t *testing.T) {
	t.Chdir(t.TempDir())
	stored(t, record(1, "a", "-"))
	long := `{"id":2,"name":"` + strings.Repeat("x", 2<<20) + `"}`
	writeFile(t, "long.jsonl", `{"id":1,"name":"a"}`+"\n"+long+"\n"+`{"id":3,"name":"c"}`+"\n")
	onBoth(t, func(t *testing.T) {
		r := run(t, nil, "plants", "import", "--quiet", "long.jsonl")
		if want := "long.jsonl:2: is longer than 1048576 bytes, the limit of MAX_BODY_BYTES\n"; r.code != 3 || !strings.HasPrefix(r.stderr, want) {
			t.Errorf("exit code %d, stderr:\n%s\nwant 3, and first:\n%s", r.code, r.stderr, want)
		}
	})
	server := startServer(t, "plantstore", nil)
	r := run(t, nil, "plants", "import", "--quiet", "--max-body-bytes", "4194304", "long.jsonl")
	if want := "long.jsonl:2: the server refuses the plant: is longer than 1048576 bytes, the limit of MAX_BODY_BYTES\n"; r.code != 3 ||
		!strings.HasPrefix(r.stderr, want) {
		t.Errorf("exit code %d, stderr:\n%s\nwant 3, and first:\n%s", r.code, r.stderr, want)
	}
	server.stop()
	if r := run(t, nil, "plants", "import", "--quiet", "--max-body-bytes", "4194304", "long.jsonl"); r.code != 0 {
		t.Errorf("exit code %d with a higher limit, stderr:\n%s", r.code, r.stderr)
	}
}
