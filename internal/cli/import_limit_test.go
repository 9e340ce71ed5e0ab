package cli_test

import (
	"strings"
	"testing"
)

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
	if want := "long.jsonl:2: the server refuses the plant with error 413: the body is larger than the limit of 1048576 bytes, its MAX_BODY_BYTES\n"; r.code != 3 ||
		!strings.HasPrefix(r.stderr, want) {
		t.Errorf("exit code %d, stderr:\n%s\nwant 3, and first:\n%s", r.code, r.stderr, want)
	}
	server.stop()
	if r := run(t, nil, "plants", "import", "--quiet", "--max-body-bytes", "4194304", "long.jsonl"); r.code != 0 {
		t.Errorf("exit code %d with a higher limit, stderr:\n%s", r.code, r.stderr)
	}
}
