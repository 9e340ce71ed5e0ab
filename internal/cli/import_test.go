package cli_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

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
	server := startServer(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stderr strings.Builder
	stdin := io.MultiReader(strings.NewReader(before), onRead(func() { server.stop() }), strings.NewReader(after))
	code := runProcess(ctx, cli.Process{Stdin: stdin, Stdout: io.Discard, Stderr: &stderr}, "plants", "import", "-")
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

// TestDryRun checks that a dry run reports what an import does, with the same exit code: of random files, with and
// without a database.
func TestDryRun(t *testing.T) {
	t.Chdir(t.TempDir())
	names := rapid.SampledFrom([]string{"a", "b"})
	line := rapid.OneOf(
		rapid.Custom(func(r *rapid.T) string {
			return fmt.Sprintf(`{"id":%d,"name":%q}`, rapid.IntRange(1, 9).Draw(r, "id"), names.Draw(r, "name"))
		}),
		rapid.SampledFrom([]string{"{}", "", "{", `{"id":1e99,"name":"a"}`, `{"id":5,"name":"a","tag":""}`}),
	)
	file := rapid.SliceOfN(line, 0, 6)
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		database := fmt.Sprintf("%d.db", n)
		write := func(name string) string {
			name = fmt.Sprintf("%d%s.jsonl", n, name)
			writeFile(t, name, strings.Join(file.Draw(r, name), "\n"))
			return name
		}
		command := []string{"plants", "import", "--quiet", "--json", "--storage-url", database, "--on-conflict", rapid.SampledFrom([]string{"error", "skip"}).Draw(r, "conflict")}
		if rapid.Bool().Draw(r, "exists") {
			run(t, nil, append(command, write("before"))...)
		}
		files := []string{write("first"), write("second")}
		dry := run(t, nil, slices.Concat(command, []string{"--dry-run"}, files)...)
		imported := run(t, nil, append(command, files...)...)
		if dry.code != imported.code || dry.stdout != imported.stdout {
			r.Fatalf("a dry run exits with %d and prints\n%s%s\nthe import with %d and\n%s%s", dry.code, dry.stdout, dry.stderr, imported.code, imported.stdout, imported.stderr)
		}
	})
}

// An onRead is an empty reader that calls itself first.
type onRead func()

func (do onRead) Read([]byte) (int, error) {
	do()
	return 0, io.EOF
}
