package cli_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plantstore/internal/cli"
	"plantstore/internal/must"
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

// TestBrowse checks that the page of plants browse reads the file, then the server that starts
// meanwhile, then the file again, and that the port is closed when the command has ended.
func TestBrowse(t *testing.T) {
	t.Chdir(t.TempDir())
	runWith(t, nil, `{"id":7,"name":"Aloe"}`, "plants", "import", "-")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	lines, stdout := io.Pipe()
	exited := make(chan int, 1)
	go func() { exited <- runProcess(ctx, cli.Process{Stdout: stdout, Stderr: io.Discard}, "plants", "browse") }()
	link := strings.TrimSpace(must.Get(bufio.NewReader(lines).ReadString('\n'))(t))
	base, key, _ := strings.Cut(link, "#key=")
	started := regexp.MustCompile(`"started":"[^"]+",`)
	check := func(path, want string) {
		t.Helper()
		request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, http.NoBody))(t)
		request.Header.Set("Authorization", "Bearer "+key)
		_, got := roundTrip(t, request)
		if got = started.ReplaceAllString(got, ""); got != want+"\n" {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	check("page/plants", `{"plants":[{"id":"7","name":{"text":"Aloe"}}],"searched":1}`)
	check("count", `{"place":"data/plants.db, read from the file: no server runs","plants":1}`)
	server := startServer(t, nil)
	if status, body := post(t, server.ready(t).BaseURL, token(t, nil), `{"id":8,"name":"Ficus","tag":""}`); status != http.StatusOK {
		t.Error(body)
	}
	const both = `{"plants":[{"id":"7","name":{"text":"Aloe"}},{"id":"8","name":{"text":"Ficus"},"tag":{"text":""}}],"searched":2}`
	check("page/plants", both)
	check("count", fmt.Sprintf(`{"version":"devel","base_url":%q,"place":"data/plants.db, read from the running server","max_body_bytes":1048576,"token_command":"plantstore token","plants":2}`, server.ready(t).BaseURL))
	server.stop()
	check("page/plants", both)
	address, _, _ := strings.Cut(strings.TrimPrefix(link, "http://"), "/")
	silent := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", address))(t) // as browsers connect ahead
	defer func() { _ = silent.Close() }()
	cancel()
	if code := <-exited; code != 0 {
		t.Errorf("exit code %d", code)
	}
	if conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address); err == nil {
		_ = conn.Close()
		t.Error("the port is open after the command")
	}
}
