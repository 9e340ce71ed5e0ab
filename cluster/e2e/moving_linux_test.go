package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/cluster/internal/etcd"
	"plantstore/e2e/cluster/internal/postgres"
	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// engines returns the storage URL of a fresh, empty store of each engine over a network.
func engines(t *testing.T) map[string]string {
	t.Helper()
	return map[string]string{
		"etcd":       "etcd://" + etcd.Start(t, etcd.Options{}).Hosts(),
		"PostgreSQL": postgres.Start(t, "").URL("plants", "postgres"),
	}
}

// TestConformance runs the contract's cases against a server on each engine, and then, next to it,
// plantstore check.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, url := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, url, 1)
			file := filepath.Join(t.TempDir(), "secret")
			must.Do(t, os.WriteFile(file, []byte(secret), 0o600))
			plantstore.Run(t, t.TempDir(), "conformance", "--url", s.replicas[0].BaseURL, "--token", s.token, "--secret-file", file, "--level", "wire", "--fresh")
			if out := plantstore.Run(t, t.TempDir(), "check", "--storage-url", url); !strings.HasSuffix(out, " plants are intact, 0 findings\n") {
				t.Errorf("check: %s", out)
			}
		})
	}
}

// TestMoving moves plants from each engine into each other one, with the commands
// of docs/keep.md.
func TestMoving(t *testing.T) {
	t.Parallel()
	sources, targets := engines(t), engines(t)
	for _, stores := range []map[string]string{sources, targets} {
		stores["bbolt"] = "bbolt:" + filepath.Join(t.TempDir(), "plants.db")
	}
	const plants = "{\"id\":-9223372036854775808,\"name\":\"a\\u0000b\"}\n{\"id\":0,\"name\":\"\",\"tag\":\"\"}\n{\"id\":7,\"name\":\"\U0001F335\",\"tag\":\"t\"}\n"
	run := func(args ...string) { plantstore.Run(t, t.TempDir(), append([]string{"plants"}, args...)...) }
	first := filepath.Join(t.TempDir(), "first.jsonl")
	must.Do(t, os.WriteFile(first, []byte(plants), 0o600))
	for from, source := range sources {
		run("import", "--storage-url", source, first)
		for to, target := range targets {
			out, back := filepath.Join(t.TempDir(), "out.jsonl"), filepath.Join(t.TempDir(), "back.jsonl")
			run("export", "--storage-url", source, out)
			run("import", "--storage-url", target, out)
			run("export", "--storage-url", target, back)
			if got := string(must.Get(os.ReadFile(back))(t)); got != plants {
				t.Errorf("from %s to %s: %q, want %q", from, to, got, plants)
			}
		}
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
	startFails(t, 1, server.URL("stranger", "ours"), "the user or the password is wrong")
	startFails(t, 1, server.URL("guest", "ours"), "the user lacks a right")
	startFails(t, 1, server.URL("plants", "nosuch"), `database "nosuch" does not exist`)
	startFails(t, 1, server.URL("plants", "theirs"), "the table plants has the columns id bigint, species text")
	startFails(t, 1, server.URL("plants", "careless"), "synchronous_commit is off")
	rejects(t, 1, "there is no table plants", nil, "check", "--storage-url", server.URL("plants", "ours"))

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
