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
	name := strings.Repeat("a", 1<<16) // 64 are a batch
	lines := func(from, to int) string {
		var text strings.Builder
		for id := range to - from {
			fmt.Fprintf(&text, "{\"id\":%d,\"name\":\"%s\"}\n", from+id, name)
		}
		return text.String()
	}
	before, after := lines(0, 80), lines(80, 180)
	server := startServer(t, "plantstore", nil)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stderr strings.Builder
	code := cli.Main(ctx, cli.Process{
		Name: "plantstore", Engines: engines(),
		Args:   []string{"plantstore", "plants", "import", "-"},
		Stdin:  io.MultiReader(strings.NewReader(before), onRead(func() { server.stop() }), strings.NewReader(after)),
		Stdout: io.Discard, Stderr: &stderr,
	})
	printed := stderr.String()
	if code != 1 || !strings.HasPrefix(printed, "plantstore: import -: line ") ||
		!strings.HasSuffix(printed, " stored: run the import again to continue\n") {
		t.Errorf("exit code %d, stderr:\n%s", code, printed)
	}
	for _, word := range []string{"EOF", "broken pipe", "connection reset", "context canceled"} {
		if strings.Contains(printed, word) {
			t.Errorf("it prints %q:\n%s", word, printed)
		}
	}
	server.stop() // waits: the import may have failed while the server was closing its database
	writeFile(t, "all.jsonl", before+after)
	output(t, nil, "plants", "import", "--quiet", "all.jsonl")
	if got := output(t, nil, "plants", "count"); got != "180\n" {
		t.Errorf("there are %s plants, want 180", got)
	}
}

// An onRead is an empty reader that calls itself first.
type onRead func()

func (do onRead) Read([]byte) (int, error) {
	do()
	return 0, io.EOF
}
