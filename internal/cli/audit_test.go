package cli_test

import (
	"strings"
	"testing"
)

// TestAuditLogIsNoOtherFile checks that an audit log that is a file of the server, or a file
// that it reads, is misuse, and no file is created or changed.
func TestAuditLogIsNoOtherFile(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "plants.jsonl", someLines)
	writeFile(t, "secrets", "a secret that is long enough for HS256\n")
	for _, file := range []string{
		"data/plants.db", "data/plants.db.mark", "data/plants.db.sock", "data/jwt-secret", "./data//plants.db", "secrets",
	} {
		r := run(t, []string{"AUDIT_LOG=" + file, "JWT_SECRET_FILE=secrets"}, "serve", "--addr", "127.0.0.1:0", "--admin-addr", "off")
		checkFailure(t, r, 2, "AUDIT_LOG (--audit-log): *")
	}
	r := run(t, []string{"AUDIT_LOG=plants.jsonl"}, "serve", "--addr", "127.0.0.1:0", "--admin-addr", "off", "--seed", "plants.jsonl")
	checkFailure(t, r, 1, "AUDIT_LOG (--audit-log): plants.jsonl: not an audit log, left unchanged: name another file")
	if got := readFile(t, "secrets") + readFile(t, "plants.jsonl"); got != "a secret that is long enough for HS256\n"+someLines {
		t.Errorf("the files are now %q", got)
	}
	checkFailure(t, run(t, []string{"AUDIT_LOG=none/audit.jsonl"}, "serve", "--addr", "127.0.0.1:0", "--admin-addr", "off"), 1,
		"AUDIT_LOG (--audit-log): open none/audit.jsonl: no such file or directory; create its directory first")
	for _, word := range []string{"STDOUT", "stderr"} {
		checkFailure(t, run(t, []string{"AUDIT_LOG=" + word}, "serve"), 2, "AUDIT_LOG (--audit-log): *")
	}
}

// TestReadyNamesAuditLog checks that the banner has the path of the audit log.
func TestReadyNamesAuditLog(t *testing.T) {
	t.Chdir(t.TempDir())
	for file, line := range map[string]string{"audit.jsonl": "\n  audit log    audit.jsonl\n", "stdout": "\n  audit log    stdout\n", "": "\n  get a token "} {
		environ := []string{"AUDIT_LOG=" + file}
		s := startServer(t, "plantstore", environ)
		if got := s.ready(t).AuditLog; got != file || !strings.Contains(s.first, `"audit_log":`) {
			t.Errorf("the ready record has the audit log %q, want %q:\n%s", got, file, s.first)
		}
		s.stop()
		s = startServer(t, "plantstore", append(environ, "LOG_FORMAT=text"))
		if got := s.log(); !strings.Contains(got, line) || file == "" && strings.Contains(got, "audit log") {
			t.Errorf("with AUDIT_LOG=%s it prints\n%s", file, got)
		}
	}
}

// TestAuditLogStays checks that a copy or an export does not replace an audit log.
func TestAuditLogStays(t *testing.T) {
	t.Chdir(t.TempDir())
	someStored(t)
	writeFile(t, "audit.jsonl", "{}\n")
	for _, command := range [][]string{{"plants", "export", "audit.jsonl"}, {"backup", "audit.jsonl"}} {
		checkFailure(t, run(t, []string{"AUDIT_LOG=audit.jsonl"}, command...), 2, "audit.jsonl is the audit log: name another file")
	}
	// As of a running server that has the option, while the command does not.
	writeFile(t, "audit.jsonl", `{"time":"2026-01-31T12:00:00.000Z","event":"created"}`+"\n")
	writeFile(t, ".env", "ADDR=:1\n")
	for _, command := range [][]string{{"plants", "export"}, {"backup"}} {
		checkFailure(t, run(t, nil, append(command, "audit.jsonl")...), 2, "audit.jsonl is an audit log: name another file")
		checkFailure(t, run(t, nil, append(command, ".env")...), 2, ".env is the file with options: name another file")
	}
}
