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

// freshEtcd returns a storagetest.Fresh with prefixes of a cluster.
func freshEtcd(cluster *etcd.Cluster) storagetest.Fresh {
	var count atomic.Int64
	return func(t testing.TB) storagetest.Open {
		url := fmt.Sprintf("etcd://%s/%s/%d", cluster.Hosts(), t.Name(), count.Add(1))
		return func() (storagetest.Store, error) {
			loc, err := storage.ParseURL(url)
			if err != nil {
				return nil, err
			}
			return etcdstore.Open(t.Context(), loc, storage.Options{})
		}
	}
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
	for _, err := range store.CreateAll(t.Context(), records) {
		must.Do(t, err)
	}
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
	listed := 0
	for _, err := range store.List(t.Context(), 0) {
		if err != nil {
			if !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("List: %v, want: %v", err, storage.ErrCorrupt)
			}
			continue
		}
		listed++
	}
	if listed != 10 {
		t.Errorf("List yielded %d plants, want the 10 before the first corrupt record", listed)
	}
}

// freshPostgres returns a storagetest.Fresh with schemas of a database.
func freshPostgres(server *postgres.Server) storagetest.Fresh {
	var count atomic.Int64
	return func(t testing.TB) storagetest.Open {
		schema := fmt.Sprint("place", count.Add(1))
		server.Exec("postgres", "CREATE SCHEMA "+schema)
		return func() (storagetest.Store, error) {
			loc, err := storage.ParseURL(server.URL("plants", "postgres") + "&search_path=" + schema)
			if err != nil {
				return nil, err
			}
			return pgstore.Open(t.Context(), loc, storage.Options{})
		}
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
				store, err := open()
				if err != nil {
					t.Error(err)
					return
				}
				_ = store.Close()
			})
		}
		all.Wait()
	}
}
