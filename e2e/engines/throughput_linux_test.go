package engines

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	clientv3 "go.etcd.io/etcd/client/v3"

	"plantstore/e2e/internal/etcd"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/postgres"
	"plantstore/models"
	"plantstore/storage"
	etcdstore "plantstore/storage/etcd"
	pgstore "plantstore/storage/postgres"
)

// What both sides of the comparison have: so many creates under way at a time, and
// for the bare client so many requests at a time that carry them.
const (
	clients  = 256
	requests = 12
	batch    = clients / requests
)

// least is what the engine must reach of the bare client's throughput.
const least = 0.8

// TestThroughput writes plants by 256 clients in three ways, in turn: with a bare
// client of the cluster, through three stores in this process, and through three
// replicas over HTTP. It measures, and so it belongs to the long run. The first two
// are compared. The third one says what HTTP and tokens cost where clients,
// replicas and cluster share the processors.
func TestThroughput(t *testing.T) { //nolint:paralleltest // it measures
	if plantstore.Torture(0, 1) == 0 {
		t.Skip("only with TORTURE=1")
	}
	t.Run("etcd", func(t *testing.T) { //nolint:paralleltest // it measures
		cluster := etcd.Start(t, etcd.Options{Members: 3})
		client := cluster.Client()
		compare(t, "etcd://"+cluster.Hosts(), etcdstore.Opener(slog.New(slog.DiscardHandler)), func(ctx context.Context, first int64) error {
			return writeEtcd(ctx, client, first)
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) { //nolint:paralleltest // it measures
		server := postgres.Start(t, "")
		config := do(pgxpool.ParseConfig(server.URL("plants", "postgres") + fmt.Sprintf("&default_query_exec_mode=exec&pool_max_conns=%d", requests))).must(t)
		config.AfterConnect = nameTypes
		pool := do(pgxpool.NewWithConfig(t.Context(), config)).must(t)
		t.Cleanup(pool.Close)
		compare(t, server.URL("plants", "postgres"), pgstore.Open, func(ctx context.Context, first int64) error {
			return writePostgres(ctx, pool, first)
		})
	})
}

// compare measures each way in turn, three times, and takes the best of each.
func compare(t *testing.T, url string, open storage.Opener, write func(ctx context.Context, first int64) error) {
	t.Helper()
	s := newSite(t, url, 3)
	var stores []storage.Store
	for range 3 {
		store := do(open(t.Context(), do(storage.ParseURL(url)).must(t))).must(t)
		t.Cleanup(func() { _ = store.Close() })
		stores = append(stores, store)
	}
	var bare, engine, replicas float64
	var next atomic.Int64
	for range 3 {
		bare = max(bare, rate(t, requests, func(ctx context.Context) (int64, error) {
			return batch, write(ctx, -next.Add(batch))
		}))
		engine = max(engine, rate(t, clients, func(ctx context.Context) (int64, error) {
			id := next.Add(1)
			return 1, stores[id%3].Create(ctx, id, models.Plant{Name: benchName})
		}))
		replicas = max(replicas, rate(t, clients, func(context.Context) (int64, error) {
			id := next.Add(1)
			got, answer := s.post(int(id), id, benchName) //nolint:contextcheck // a request lasts as long as the test
			if got != created {
				return 0, fmt.Errorf("id %d: %s", id, answer)
			}
			return 1, nil
		}))
	}
	t.Logf("bare client %.0f/s, engine %.0f/s (%.2f), three replicas over HTTP %.0f/s", bare, engine, engine/bare, replicas)
	if engine < least*bare {
		t.Errorf("the engine reaches %.2f of the bare client, want %.2f", engine/bare, least)
	}
}

// benchName is of the size of a typical one.
const benchName = "Echeveria Echeveria Echeveria Echeveria"

// rate returns how many plants a second so many goroutines write, measured over
// some seconds.
func rate(t *testing.T, goroutines int, write func(ctx context.Context) (int64, error)) float64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	var written atomic.Int64
	var all sync.WaitGroup
	start := time.Now()
	for range goroutines {
		all.Go(func() {
			for ctx.Err() == nil {
				n, err := write(context.WithoutCancel(ctx))
				if err != nil {
					t.Error(err)
					return
				}
				written.Add(n)
			}
		})
	}
	all.Wait()
	return float64(written.Load()) / time.Since(start).Seconds()
}

// writeEtcd writes a batch the way the engine does, and nothing else.
func writeEtcd(ctx context.Context, client *clientv3.Client, first int64) error {
	ops := make([]clientv3.Op, batch)
	for i := range ops {
		key := fmt.Sprintf("/bare/%016x", uint64(first)+uint64(i)) //nolint:gosec // the bits are meant
		ops[i] = clientv3.OpTxn(
			[]clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(key), "=", 0)},
			[]clientv3.Op{clientv3.OpPut(key, benchName+"and a header of 23 bytes")},
			[]clientv3.Op{clientv3.OpGet(key)},
		)
	}
	_, err := client.Txn(ctx).Then(ops...).Commit()
	return err
}

// nameTypes is what the engine does as well: pgx is built without its list of types.
func nameTypes(_ context.Context, conn *pgx.Conn) error {
	conn.TypeMap().RegisterDefaultPgType(int64(0), "int8")
	conn.TypeMap().RegisterDefaultPgType([]byte(nil), "bytea")
	conn.TypeMap().RegisterDefaultPgType(pgtype.UUID{}, "uuid")
	return nil
}

// writePostgres writes a batch the way the engine does, and nothing else.
func writePostgres(ctx context.Context, pool *pgxpool.Pool, first int64) error {
	var rows []string
	arguments := []any{pgtype.UUID{Valid: true}}
	for i := range batch {
		rows = append(rows, fmt.Sprintf("($1,$%d,$%d,NULL)", 2*i+2, 2*i+3))
		arguments = append(arguments, first+int64(i), []byte(benchName))
	}
	_, err := pool.Exec(ctx, "INSERT INTO plants (request, id, name, tag) VALUES "+strings.Join(rows, ",")+
		" ON CONFLICT (id) DO NOTHING RETURNING id", arguments...)
	return err
}
