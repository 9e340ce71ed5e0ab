package e2e

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	etcdstore "plantstore/cluster/etcd"
	pgstore "plantstore/cluster/postgres"
	"plantstore/e2e/cluster/internal/etcd"
	"plantstore/e2e/cluster/internal/postgres"
	"plantstore/internal/must"
	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/storagetest"
)

// fresh returns a storagetest.Fresh of places with these URLs.
func fresh(open storage.Opener, url func(place string) string) storagetest.Fresh {
	var count atomic.Int64
	return func(t testing.TB) storagetest.Open {
		loc := must.Get(storage.ParseURL(url(fmt.Sprint("place", count.Add(1)))))(t)
		return func() (storagetest.Store, error) { return open(t.Context(), loc, storage.Options{}) }
	}
}

// freshEtcd returns a storagetest.Fresh with prefixes of a cluster.
func freshEtcd(cluster *etcd.Cluster) storagetest.Fresh {
	return fresh(etcdstore.Open, func(place string) string { return "etcd://" + cluster.Hosts() + "/" + place })
}

// freshPostgres returns a storagetest.Fresh with schemas of a database.
func freshPostgres(server *postgres.Server) storagetest.Fresh {
	return fresh(pgstore.Open, func(place string) string {
		server.Exec("postgres", "CREATE SCHEMA "+place)
		return server.URL("plants", "postgres") + "&search_path=" + place
	})
}

//nolint:paralleltest // the suite checks for leaked goroutines
func TestEtcdSuite(t *testing.T) {
	cluster := etcd.Start(t, etcd.Options{})
	storagetest.Run(t, freshEtcd(cluster))
}

// TestEtcdCheck checks that a check finds all corrupt records, on each page, and that a list
// ends at the first.
func TestEtcdCheck(t *testing.T) {
	t.Parallel()
	const plants = 600 // more than two pages
	cluster := etcd.Start(t, etcd.Options{})
	store := must.Get(freshEtcd(cluster)(t)())(t)
	t.Cleanup(func() { _ = store.Close() })
	records := make([]storage.Record, plants)
	for i := range records {
		records[i] = storage.Record{ID: int64(i), Plant: models.Plant{Name: "Monstera"}}
	}
	must.Do(t, errors.Join(store.CreateAll(t.Context(), records)...))
	keys := must.Get(cluster.Client().Get(t.Context(), "/", clientv3.WithPrefix(), clientv3.WithKeysOnly()))(t).Kvs
	for _, id := range []int{10, 300, 599} {
		must.Get(cluster.Client().Put(t.Context(), string(keys[id].Key), "x"))(t)
	}
	checked, ok := store.(*storage.Store)
	if !ok {
		t.Fatalf("the store is a %T", store)
	}
	report := must.Get(checked.Check(t.Context()))(t)
	if report.Plants != plants-3 || len(report.Corruption) != 3 {
		t.Errorf("Check: %d plants, findings %q", report.Plants, report.Corruption)
	}
	listed, last := 0, error(nil)
	for _, err := range store.List(t.Context(), 0) {
		listed, last = listed+1, err
	}
	if listed != 11 || !errors.Is(last, storage.ErrCorrupt) {
		t.Errorf("List yielded %d, the last of them %v, want 10 plants and the first corrupt record", listed, last)
	}
}

//nolint:paralleltest // the suite checks for leaked goroutines
func TestPostgresSuite(t *testing.T) {
	storagetest.Run(t, freshPostgres(postgres.Start(t, "")))
}

// TestPostgresOpensAtOnce checks that servers that start at the same time create the table once.
func TestPostgresOpensAtOnce(t *testing.T) {
	t.Parallel()
	fresh := freshPostgres(postgres.Start(t, ""))
	for range 5 {
		open := fresh(t)
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				if store, err := open(); err != nil {
					t.Error(err)
				} else {
					_ = store.Close()
				}
			})
		}
		all.Wait()
	}
}
