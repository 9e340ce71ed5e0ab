package engines

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
	"plantstore/e2e/internal/tools"
	"plantstore/e2e/internal/wrk"
	"plantstore/models"
	"plantstore/storage"
	etcdstore "plantstore/storage/etcd"
	pgstore "plantstore/storage/postgres"
)

// The load of all sides of the comparison: clients is the number of concurrent creates,
// requests the number of concurrent requests of a bare client that batches creates.
const (
	clients  = 256
	requests = 12
	batch    = clients / requests
)

// least is the minimum share of a bare client's throughput.
const least = 0.8

// A bareClient writes plants as the engine does, in one request, with ids from first on.
type bareClient func(ctx context.Context, first int64, plants int) error

// TestThroughput has 256 clients write plants in four ways, in turn: a bare client
// of the cluster with one create in a request, a bare client that batches concurrent
// creates, the stores of three replicas in this process, and three replicas over HTTP.
// It is a benchmark, and part of the long run. The replicas are compared with the client
// without batches, their stores with the client that batches. The difference is the cost
// of HTTP and tokens where clients, replicas and cluster share the processors.
func TestThroughput(t *testing.T) { //nolint:paralleltest // it measures
	if plantstore.Torture(0, 1) == 0 {
		t.Skip("only with TORTURE=1")
	}
	tools.Require(t, "wrk")
	t.Run("etcd", func(t *testing.T) { //nolint:paralleltest // it measures
		cluster := etcd.Start(t, etcd.Options{Members: 3})
		client := cluster.Client()
		compare(t, "etcd://"+cluster.Hosts(), etcdstore.Open, func(ctx context.Context, first int64, plants int) error {
			return writeEtcd(ctx, client, first, plants)
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) { //nolint:paralleltest // it measures
		server := postgres.Start(t, "")
		config := do(pgxpool.ParseConfig(server.URL("plants", "postgres") + "&default_query_exec_mode=exec&pool_max_conns=32")).must(t)
		config.AfterConnect = nameTypes
		pool := do(pgxpool.NewWithConfig(t.Context(), config)).must(t)
		t.Cleanup(pool.Close)
		compare(t, server.URL("plants", "postgres"), pgstore.Open, func(ctx context.Context, first int64, plants int) error {
			return writePostgres(ctx, pool, first, plants)
		})
	})
}

// compare measures each way in turn, three times, and returns the best result of each.
func compare(t *testing.T, url string, open storage.Opener, write bareClient) {
	t.Helper()
	s := newSite(t, url, 3)
	tokens := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(tokens, []byte(s.token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stores []*storage.Store
	for range 3 {
		store := do(open(t.Context(), do(storage.ParseURL(url)).must(t), storage.Options{})).must(t)
		t.Cleanup(func() { _ = store.Close() })
		stores = append(stores, store)
	}
	var one, many, engine, replicas float64
	var next atomic.Int64
	bare := func(goroutines, plants int) float64 {
		return rate(t, goroutines, func(ctx context.Context) (int64, error) {
			return int64(plants), write(ctx, -next.Add(int64(plants)), plants)
		})
	}
	for round := range 3 {
		one = max(one, bare(clients, 1))
		many = max(many, bare(requests, batch))
		engine = max(engine, rate(t, clients, func(ctx context.Context) (int64, error) {
			id := next.Add(1)
			return 1, stores[id%3].Create(ctx, id, models.Plant{Name: benchName})
		}))
		replicas = max(replicas, overHTTP(t, s, tokens, int64(round)))
	}
	t.Logf("bare client: %.0f/s with a create in a request, %.0f/s with %d; stores %.0f/s (%.2f of the latter); three replicas over HTTP %.0f/s (%.2f and %.2f)",
		one, many, batch, engine, engine/many, replicas, replicas/one, replicas/many)
	if replicas < least*one || engine < least*many {
		t.Errorf("the replicas reach %.2f, their stores %.2f, want %.2f of the bare clients", replicas/one, engine/many, least)
	}
}

// overHTTP returns the number of plants per second that wrk creates through all replicas.
func overHTTP(t *testing.T, s *site, tokens string, round int64) float64 {
	t.Helper()
	rates := make([]float64, len(s.replicas))
	var all sync.WaitGroup
	for n, replica := range s.replicas {
		all.Go(func() {
			report, err := wrk.Fire(t.Context(), wrk.Shot{
				Addr: strings.TrimPrefix(replica.BaseURL, "http://"), Clients: clients / len(s.replicas), Order: wrk.Ascending,
				First: (3*round + int64(n)) * 10_000_000, Tokens: tokens, Duration: measured,
			})
			if err != nil || report.Refused+report.Broken > 0 {
				t.Errorf("%d refused, %d broken: %v", report.Refused, report.Broken, err)
			}
			rates[n] = report.Throughput()
		})
	}
	all.Wait()
	return rates[0] + rates[1] + rates[2]
}

// benchName is a name of typical length.
const benchName = "Echeveria Echeveria Echeveria Echeveria"

// measured is the duration of one measurement.
const measured = 4 * time.Second

// rate returns the number of plants per second that n goroutines write, measured over some
// seconds.
func rate(t *testing.T, goroutines int, write func(ctx context.Context) (int64, error)) float64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), measured)
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

// writeEtcd is a [bareClient] of etcd.
func writeEtcd(ctx context.Context, client *clientv3.Client, first int64, plants int) error {
	ops := make([]clientv3.Op, plants)
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

// nameTypes registers the types, as the engine does: pgx is built without its list of types.
func nameTypes(_ context.Context, conn *pgx.Conn) error {
	conn.TypeMap().RegisterDefaultPgType(int64(0), "int8")
	conn.TypeMap().RegisterDefaultPgType([]byte(nil), "bytea")
	conn.TypeMap().RegisterDefaultPgType(pgtype.UUID{}, "uuid")
	return nil
}

// writePostgres is a [bareClient] of PostgreSQL.
func writePostgres(ctx context.Context, pool *pgxpool.Pool, first int64, plants int) error {
	var rows []string
	arguments := []any{pgtype.UUID{Valid: true}}
	for i := range plants {
		rows = append(rows, fmt.Sprintf("($1,$%d,$%d,NULL)", 2*i+2, 2*i+3))
		arguments = append(arguments, first+int64(i), []byte(benchName))
	}
	_, err := pool.Exec(ctx, "INSERT INTO plants (request, id, name, tag) VALUES "+strings.Join(rows, ",")+
		" ON CONFLICT (id) DO NOTHING RETURNING id", arguments...)
	return err
}
