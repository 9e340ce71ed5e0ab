package cli_test

import "testing"

// TestForgedLine checks that a line end in an argument does not begin a new line of the
// message.
func TestForgedLine(t *testing.T) {
	t.Parallel()
	checkFailure(t, run(t, nil, "plants", "get", "--storage-url", "no\nplantstore: \x1b[2Kforged\u009b.db", "1"), 2,
		`STORAGE_URL (--storage-url): *`)
	checkFailure(t, run(t, nil, "plants", "import", "no\nplantstore: \x1b[2Kforged\u009b.csv"), 1,
		`import no\u000aplantstore: \u001b[2Kforged\u009b.csv: *`)
	checkFailure(t, run(t, nil, "--x\nplantstore: forged"), 2, `flag provided but not defined: -x\u000aplantstore: forged*`, "see: plantstore --help")
}
