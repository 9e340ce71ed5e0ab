//go:build unix

package operate

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/testkit"
)

// A note is a line of the audit log.
type note struct {
	Event, By, Subject string

	ID        int64
	RequestID string `json:"request_id"`
}

// notesIn returns the lines of files, by the ids of the plants. All lines must be complete, and
// no id may occur twice.
func notesIn(t *testing.T, files ...string) map[int64]note {
	t.Helper()
	all := make(map[int64]note)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var n note
			if err := json.Unmarshal([]byte(line), &n); err != nil {
				t.Fatalf("%s: line %q: %v", file, line, err)
			}
			if _, twice := all[n.ID]; twice {
				t.Errorf("%s: plant %d occurs twice", file, n.ID)
			}
			all[n.ID] = n
		}
	}
	return all
}

// hangUp sends SIGHUP and waits until the server has reloaded.
func hangUp(t *testing.T, server *plantstore.Server) {
	t.Helper()
	const done = `"msg":"reloaded"`
	before := strings.Count(server.Log(), done)
	signal(t, server, syscall.SIGHUP)
	await(t, "reload", func() bool { return strings.Count(server.Log(), done) > before })
}

func signal(t *testing.T, server *plantstore.Server, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(server.PID(), s); err != nil {
		t.Fatal(err)
	}
}

// TestAuditRotation rotates the audit log under load, by renaming it and SIGHUP: every
// acknowledged plant must be in one of the files, once, and no plant that was not created.
func TestAuditRotation(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"AUDIT_LOG=audit.jsonl"}})
	path := filepath.Join(server.Dir, "audit.jsonl")
	files := []string{path}
	l := startLoad(t, server, 1, true)
	for round := range 10 {
		want := l.created.Load() + 200
		await(t, "creates", func() bool { return l.created.Load() >= want })
		rotated := fmt.Sprint(path, ".", round)
		if err := os.Rename(path, rotated); err != nil {
			t.Fatal(err)
		}
		hangUp(t, server)
		files = append(files, rotated)
	}
	l.end()
	server.Stop()
	noted, stored := notesIn(t, files...), listIDs(t, server.Dir, database)
	checkNoted(t, noted, l.ids(), stored)
	for id := range stored { // includes plants of clients that did not wait for the response
		if n := noted[id]; n.By != "token" || n.Subject != "developer" || n.RequestID == "" {
			t.Fatalf("plant %d: %+v", id, n)
		}
	}
	t.Logf("%d plants were acknowledged, %d are recorded in %d files", len(l.ids()), len(noted), len(files))
}

// TestAuditRemoved checks that a removed audit log continues in a new file with the next
// plant, and the removal is logged.
func TestAuditRemoved(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"AUDIT_LOG=audit.jsonl"}})
	path, token := filepath.Join(server.Dir, "audit.jsonl"), server.Token()
	for id := range int64(3) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if !create(t.Context(), http.DefaultTransport, server.BaseURL, token, id) {
			t.Fatalf("plant %d was not created", id)
		}
		checkNoted(t, notesIn(t, path), []int64{id}, map[int64]bool{id: true})
	}
	server.Stop() // the log is complete
	if removals := strings.Count(server.Log(), `"level":"ERROR","msg":"audit log removed`); removals != 3 {
		t.Errorf("the removal is logged %d times, want 3:\n%s", removals, server.Log())
	}
}

// checkNoted checks that acknowledged plants are recorded, and recorded plants are stored.
func checkNoted(t *testing.T, noted map[int64]note, acknowledged []int64, stored map[int64]bool) {
	t.Helper()
	for _, id := range acknowledged {
		if noted[id].Event != "created" {
			t.Errorf("plant %d was acknowledged, and is recorded as %+v", id, noted[id])
		}
	}
	for id, n := range noted {
		if n.Event == "created" && !stored[id] {
			t.Errorf("plant %d is recorded, but not stored", id)
		}
	}
}

// TestAuditKilled checks that a server that is killed under load has recorded all acknowledged
// plants.
func TestAuditKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var acknowledged []int64
	for round := range int64(plantstore.Torture(3, 50)) {
		server := plantstore.Start(t, plantstore.Options{Dir: dir, Env: []string{"AUDIT_LOG=audit.jsonl", "LOG_LEVEL=error"}})
		l := startLoad(t, server, 1+round*1_000_000, true)
		await(t, "creates", func() bool { return l.created.Load() >= 300 })
		server.Kill()
		l.end()
		acknowledged = append(acknowledged, l.ids()...)
	}
	checkNoted(t, notesIn(t, filepath.Join(dir, "audit.jsonl")), acknowledged, listIDs(t, dir, database))
	t.Logf("%d plants were acknowledged", len(acknowledged))
}

// TestAuditFull checks that without space for the audit log creates are refused, and that when
// there is space again, the plants that were created just before are recorded, too.
func TestAuditFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	if _, err := os.Stat("/dev/full"); err != nil {
		testkit.NotChecked(t, err.Error())
	}
	if err := os.Symlink("/dev/full", path); err != nil {
		t.Fatal(err)
	}
	server := plantstore.Start(t, plantstore.Options{Dir: dir, Env: []string{"AUDIT_LOG=" + path}})
	token := server.Token()
	for id, want := range []bool{false, false, false} {
		if created := create(t.Context(), http.DefaultTransport, server.BaseURL, token, int64(id)); created != want {
			t.Errorf("plant %d: created: %t", id, created)
		}
	}
	if got := listAll(t, dir); !slices.Equal(got, []int64{0}) {
		t.Errorf("the ids %v are stored, want only the first", got)
	}
	if err := errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	hangUp(t, server)
	if !create(t.Context(), http.DefaultTransport, server.BaseURL, token, 3) {
		t.Error("plant 3 was not created")
	}
	log := server.Log()
	for _, want := range []string{`"error":500`, `"error":507`, "audit log cannot be written: creates stopped", "audit log written again: creates resumed"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s", want)
		}
	}
	noted := notesIn(t, path)
	checkNoted(t, noted, []int64{0, 3}, map[int64]bool{0: true, 3: true})
}

// listAll returns the ids of the plants of a running server.
func listAll(t *testing.T, dir string) (ids []int64) {
	t.Helper()
	for line := range strings.Lines(run(t, dir, "plants", "list")) {
		var plant struct{ ID int64 }
		if err := json.Unmarshal([]byte(line), &plant); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, plant.ID)
	}
	return ids
}

// TestAuditImport checks that plants that an operator imports through a running server are
// recorded, too.
func TestAuditImport(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"AUDIT_LOG=audit.jsonl"}})
	plants := writePlants(t, 20_000)
	run(t, server.Dir, "plants", "import", plants)
	run(t, server.Dir, "plants", "import", plants) // all plants exist already
	run(t, server.Dir, "backup", "copy.db")        // importing still works
	noted := notesIn(t, filepath.Join(server.Dir, "audit.jsonl"))
	if len(noted) != 20_000 {
		t.Errorf("%d plants are recorded, want 20000", len(noted))
	}
	for id, n := range noted {
		if n.By != "operator" || n.Event != "created" {
			t.Fatalf("plant %d: %+v", id, n)
		}
	}
}

// TestLogLevelSignal checks that SIGUSR1 changes the log level to debug, and back.
func TestLogLevelSignal(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"LOG_LEVEL=error"}})
	token := server.Token()
	for round := range 3 {
		if round > 0 {
			signal(t, server, syscall.SIGUSR1)
			await(t, "change of level", func() bool { return strings.Count(server.Log(), "SIGUSR1") == round })
		}
		if !create(t.Context(), http.DefaultTransport, server.BaseURL, token, int64(round)) {
			t.Fatal("no plant was created")
		}
	}
	server.Stop()
	log := server.Log()
	if strings.Contains(log, `"plant_id":0`) || !strings.Contains(log, `"plant_id":1`) || strings.Contains(log, `"plant_id":2`) || !strings.Contains(log, "user_agent") {
		t.Errorf("the log is\n%s", log)
	}
}
