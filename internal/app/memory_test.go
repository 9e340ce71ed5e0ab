package app

import (
	"bytes"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"plantstore/internal/config"
	"plantstore/internal/server"
	"plantstore/storage"
)

// TestMemoryBound checks the examples of docs/operations.md.
func TestMemoryBound(t *testing.T) {
	t.Parallel()
	const journal = 40 // MiB, of the default size, with its index
	for _, row := range []struct {
		connections  int
		maxBodyBytes int64
		tls          bool
		want         int64 // MiB
	}{
		{10_000, 1 << 20, false, 1217},
		{1_000, 1 << 20, false, 654},
		{1_000, 64 << 10, false, 617},
		{10_000, 64 << 20, false, 4505},
		{10_000, 1 << 20, true, 2545},
		{1_000, 1 << 20, true, 787},
		{10, 1 << 20, true, 593},
	} {
		if got := memoryBound(row.connections, row.maxBodyBytes, row.tls)>>20 + journal; got != row.want {
			t.Errorf("memoryBound(%d, %d, %v) and a journal = %d MiB, want %d", row.connections, row.maxBodyBytes, row.tls, got, row.want)
		}
	}
}

// TestTuneRuntime checks that GOGC, GOMEMLIMIT and GOMAXPROCS override the tuning.
func TestTuneRuntime(t *testing.T) { //nolint:paralleltest // the limit applies to the process
	c := &config.Config{MaxBodyBytes: 1 << 20, TLSCertFile: "cert.pem", TLSKeyFile: "key.pem"}
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	growth := debug.SetGCPercent(100)
	defer debug.SetGCPercent(growth)
	runtime.SetDefaultGOMAXPROCS() // the servers of other tests have changed it
	processors := runtime.GOMAXPROCS(0)
	defer runtime.SetDefaultGOMAXPROCS()
	c.Storage = storage.Location{Scheme: BboltScheme, Path: "plants.db"}
	tuneRuntime(map[string]string{"GOMEMLIMIT": "1GiB", "GOGC": "100", "GOMAXPROCS": "1"}, 1000, c)
	if got := runtime.GOMAXPROCS(0); got != processors {
		t.Errorf("with GOMAXPROCS there are %d processors", got)
	}
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("with GOGC the growth became %d", got)
	}
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("with GOMEMLIMIT the limit became %d", got)
	}
	tuneRuntime(nil, 1000, c)
	if got := runtime.GOMAXPROCS(0); got != processors+1 {
		t.Errorf("with %d processors there are %d, want one more", processors, got)
	}
	tuneRuntime(nil, 1000, &config.Config{Storage: storage.Location{Scheme: "etcd"}})
	if got := runtime.GOMAXPROCS(0); got != processors+1 {
		t.Errorf("for a store elsewhere there are %d processors", got)
	}
	tuneRuntime(nil, 1000, c)
	if got := runtime.GOMAXPROCS(0); got != processors+1 {
		t.Errorf("once more, with %d processors there are %d, want one more", processors, got)
	}
	if got := debug.SetGCPercent(100); got != heapGrowth {
		t.Errorf("the growth is %d, want %d", got, heapGrowth)
	}
	if got, want := debug.SetMemoryLimit(-1), memoryBound(1000, 1<<20, true)/4*3; got != want {
		t.Errorf("the limit is %d, want %d", got, want)
	}
}

// TestConnectionsFor checks that connections are limited by the limit of open files, with a
// warning.
func TestConnectionsFor(t *testing.T) {
	t.Parallel()
	const files = 1024
	most := server.ConnectionsWithin(files)
	for _, row := range []struct {
		limit, want int
		warns       bool
	}{{1, 1, false}, {most, most, false}, {most + 1, most, true}} {
		var log bytes.Buffer
		got, err := connectionsFor(&config.Config{MaxConnections: row.limit}, files, slog.New(slog.NewTextHandler(&log, nil)))
		if warns := strings.Contains(log.String(), "ulimit -n"); got != row.want || warns != row.warns || err != nil {
			t.Errorf("limit %d: %d, %v, log %q; want %d, warning %v", row.limit, got, err, &log, row.want, row.warns)
		}
	}
	_, err := connectionsFor(&config.Config{MaxConnections: 1}, 12, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "is 12, too low") {
		t.Errorf("with 12 files: %v, want that they are too few", err)
	}
}
