package engines

import (
	"fmt"
	"sync/atomic"
	"testing"

	"plantstore/e2e/internal/etcd"
	"plantstore/e2e/internal/postgres"
	"plantstore/storage"
	etcdstore "plantstore/storage/etcd"
	pgstore "plantstore/storage/postgres"
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
