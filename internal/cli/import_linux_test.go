package cli_test

import (
	"strings"
	"testing"
)

// TestImportNamesAuditLog checks that an audit log without space ends an import with an error,
// which counts the stored plants.
func TestImportNamesAuditLog(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "two.jsonl", `{"id":1,"name":"a"}`+"\n"+`{"id":2,"name":"b"}`+"\n")
	const advice = " stored: make the audit log (AUDIT_LOG) writable, or give the server another one, and run the import again to continue"
	const unrecorded = "line 1: the change was stored, but the audit log may lack it: write /dev/full: no space left on device; 2 plants were" + advice
	startServer(t, "plantstore", []string{"AUDIT_LOG=/dev/full"}).ready(t)
	checkFailure(t, run(t, nil, "plants", "import", "two.jsonl"), 1, "import two.jsonl: "+unrecorded)
	checkFailure(t, run(t, nil, "plants", "import", "two.jsonl"), 1, "import two.jsonl: line 1: no space left in the store: "+
		"the audit log cannot be written: write /dev/full: no space left on device; 0 plants were"+advice)

	r := run(t, []string{"AUDIT_LOG=/dev/full"}, "serve", "--addr", "127.0.0.1:0", "--admin-addr", "off", "--ephemeral", "--seed", "two.jsonl")
	if want := "plantstore: --seed: import two.jsonl: " + unrecorded + "\n"; r.code != 1 || !strings.Contains(r.stderr, want) {
		t.Errorf("serve --seed: exit code %d, stderr:\n%s\nwant in it: %s", r.code, r.stderr, want)
	}
}
