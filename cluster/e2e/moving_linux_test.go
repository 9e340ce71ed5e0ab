package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/cluster/internal/etcd"
	"plantstore/e2e/cluster/internal/postgres"
	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// engines returns the storage URL of a fresh, empty store of each engine.
func engines(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"bbolt":      "bbolt:" + filepath.Join(t.TempDir(), "plants.db"),
		"etcd":       "etcd://" + etcd.Start(t, etcd.Options{}).Hosts(),
		"PostgreSQL": postgres.Start(t, "").URL("plants", "postgres"),
	}
}

// TestConformance runs the contract's cases against a server on each engine.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, url := range engines(t) {
		if name == "bbolt" {
			continue // by package e2e
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, url, 1)
			file := filepath.Join(t.TempDir(), "secret")
			must.Do(t, os.WriteFile(file, []byte(secret), 0o600))
			out, err := plantstore.Command(t, t.TempDir(), nil, "conformance", "--url", s.replicas[0].BaseURL,
				"--token", s.token, "--secret-file", file, "--fresh").CombinedOutput()
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			if err != nil {
				t.Errorf("conformance: %v\n%s", err, out)
			}
			t.Log(lines[len(lines)-1])
		})
	}
}

// TestCheck runs plantstore check on each engine, next to a running server where
// the engine allows it.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, url := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, url, 1)
			for id := range int64(300) {
				if got := s.create(0, id, fmt.Sprint(id), true); got != created {
					t.Fatalf("create: %s", s.last().response)
				}
			}
			if name == "bbolt" {
				s.replicas[0].Stop()
			}
			out, err := plantstore.Command(t, t.TempDir(), nil, "check", "--storage-url", url).CombinedOutput()
			if got, want := string(out), "300 plants are intact, 0 findings\n"; err != nil || got != want {
				t.Errorf("check: %v, %q, want %q", err, got, want)
			}
		})
	}
}

// TestWrongPostgres has a wrong user, one without rights, a table of another program, and a
// server that is not durable.
func TestWrongPostgres(t *testing.T) {
	t.Parallel()
	server := postgres.Start(t, "")
	server.Exec("postgres", "CREATE ROLE guest LOGIN", "CREATE DATABASE theirs", "CREATE DATABASE careless",
		"ALTER DATABASE careless SET synchronous_commit = off", "CREATE DATABASE ours")
	server.Exec("theirs", "CREATE TABLE plants (id bigint PRIMARY KEY, species text)")
	startFails(t, server.URL("stranger", "ours"), "PostgreSQL at", "the user or the password is wrong")
	startFails(t, server.URL("guest", "ours"), "the user lacks a right")
	startFails(t, server.URL("plants", "nosuch"), `database "nosuch" does not exist`)
	startFails(t, server.URL("plants", "theirs"), "the table plants has the columns id bigint, species text")
	startFails(t, server.URL("plants", "careless"), "synchronous_commit is off")
	if out, err := plantstore.Command(t, t.TempDir(), nil, "check", "--storage-url", server.URL("plants", "ours")).CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "there is no table plants") {
		t.Errorf("check without a table: %v, %s", err, out)
	}

	s := newSite(t, server.URL("plants", "ours"), 1)
	server.Exec("ours", "GRANT SELECT, INSERT ON plants TO guest")
	guest := newSite(t, server.URL("guest", "ours"), 1)
	guest.eventually("with the right", created, "")
	server.Exec("ours", "REVOKE INSERT ON plants FROM guest")
	guest.eventually("without the right", refused, "error 500")
	server.Exec("ours", "GRANT INSERT ON plants TO guest")
	guest.eventually("with the right again", created, "")
	guest.verify()
	s.eventually("as the owner", created, "")
}
