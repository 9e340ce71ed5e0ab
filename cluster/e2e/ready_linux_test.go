package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"plantstore/e2e/cluster/internal/etcd"
	"plantstore/e2e/cluster/internal/postgres"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/internal/must"
)

// readiness returns the causes that a replica reports: "" if it is ready.
func (s *site) readiness(ctx context.Context) (string, error) {
	r, err := plantstore.Do(ctx, s.client, http.MethodGet, s.replicas[0].AdminURL+"/readyz", "")
	if r.Status == http.StatusOK {
		return "", err
	}
	return strings.TrimSuffix(r.Body, "\n"), err
}

// awaitReadiness waits until a replica has the expected readiness, and checks that it always
// responds at once.
func (s *site) awaitReadiness(want string) {
	s.t.Helper()
	process.Eventually(s.t, fmt.Sprintf("readiness %q", want), func(ctx context.Context) error {
		got, err := s.readiness(ctx)
		if err == nil && got != want {
			err = errors.New(got)
		}
		return err
	})
}

// TestStartWithoutEngine starts replicas, one of which has a password, while their engine is down: they are
// not ready, and become ready with the engine.
func TestStartWithoutEngine(t *testing.T) {
	t.Parallel()
	cluster := etcd.Start(t, etcd.Options{})
	server := postgres.Start(t, "")
	client, member := cluster.Client(), cluster.Members[0]
	must.Get(client.UserAdd(t.Context(), "root", "of the tests"))(t)
	must.Get(client.UserGrantRole(t.Context(), "root", "root"))(t)
	must.Get(client.AuthEnable(t.Context()))(t)
	for name, test := range map[string]struct {
		url     string
		stop    func()
		restart func()
	}{
		"etcd":       {"etcd://root:of%20the%20tests@" + cluster.Hosts(), func() { member.Kill() }, func() { cluster.Restart(member) }},
		"PostgreSQL": {server.URL("plants", "postgres"), func() { server.Stop(postgres.Fast) }, server.Restart},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.stop()
			s := newSite(t, test.url, 1)
			s.awaitReadiness(away)
			if o, text := s.post(0, 1, "fern"); o != refused {
				t.Errorf("without the engine: %s", text)
			}
			test.restart()
			s.awaitReadiness("")
			s.eventually("after it", created, "")
		})
	}
}

// away is the readiness of a replica without its engine.
const away = `{"error":503,"message":"not ready: the engine is unreachable or takes no writes"}`

// TestReadiness disconnects the engine of a replica, which is not ready after the first create
// that fails, and reconnects it: the replica is ready again without a create.
func TestReadiness(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(t *testing.T) (url string, stop, restart func()){
		"etcd": func(t *testing.T) (string, func(), func()) {
			cluster := etcd.Start(t, etcd.Options{})
			member := cluster.Members[0]
			return "etcd://" + cluster.Hosts(), func() { member.Kill() }, func() { cluster.Restart(member) }
		},
		"PostgreSQL": func(t *testing.T) (string, func(), func()) {
			server := postgres.Start(t, "")
			return server.URL("plants", "postgres"), func() { server.Stop(postgres.Fast) }, server.Restart
		},
		"PostgreSQL that takes no writes": func(t *testing.T) (string, func(), func()) {
			server := postgres.Start(t, "")
			change := func(to string) func() {
				return func() {
					server.Exec("postgres", "BEGIN READ WRITE; ALTER ROLE plants SET default_transaction_read_only = "+to+"; COMMIT")
					server.Stop(postgres.Fast) // for new connections
					server.Restart()
				}
			}
			return server.URL("plants", "postgres"), change("on"), change("off")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, stop, restart := start(t)
			s := newSite(t, url, 1)
			s.awaitReadiness("")
			stop()
			if o, text := s.post(0, 1, "fern"); o == created {
				t.Errorf("without the engine: %s", text)
			}
			s.awaitReadiness(away)
			restart()
			s.awaitReadiness("")
			s.eventually("after it", created, "")
		})
	}
}

// TestReadinessOfFullDisk fails all inserts as PostgreSQL does on a full disk, but not
// statements that need no space. The replica is not ready until inserts succeed; it recovers
// without a create, and its test commits store no plant.
func TestReadinessOfFullDisk(t *testing.T) {
	t.Parallel()
	server := postgres.Start(t, "")
	s := newSite(t, server.URL("plants", "postgres"), 1)
	server.Exec("postgres",
		`CREATE SEQUENCE tries`,
		`CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS
			$$BEGIN PERFORM nextval('tries'); RAISE EXCEPTION 'full' USING ERRCODE = '53100'; END$$`,
		`CREATE TRIGGER disk BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION fill()`)
	if o, text := s.post(0, 1, "fern"); o != refused {
		t.Errorf("on a full disk: %s", text)
	}
	const failing = `{"error":503,"message":"not ready: no space is left for the database"}`
	process.Eventually(t, "the third insert", func(ctx context.Context) error {
		if got, err := s.readiness(ctx); got != failing {
			t.Fatalf("%v, %s, want %s", err, got, failing)
		}
		return server.Holds(ctx, "postgres", `SELECT last_value >= 3 FROM tries`)
	})
	server.Exec("postgres", `DROP TRIGGER disk ON plants`)
	s.awaitReadiness("")
	if err := server.Holds(t.Context(), "postgres", `SELECT count(*) = 0 FROM plants`); err != nil {
		t.Errorf("after empty batches alone: %v", err)
	}
	s.eventually("after it", created, "")
}
