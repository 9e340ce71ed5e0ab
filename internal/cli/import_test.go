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
