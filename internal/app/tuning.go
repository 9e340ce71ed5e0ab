package app

import (
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"

	"plantstore/internal/config"
	"plantstore/internal/server"
	"plantstore/middleware"
)

// What the parts of a server that is under attack hold at most, as measured. The
// arithmetic is explained in docs/operations.md.
const (
	baseMemory       = 64 << 20  // the program, the token cache, what is small
	storeMemory      = 192 << 20 // a batch and what its transaction changes
	connectionMemory = 64 << 10  // a connection with the largest header and a small body
	tlsMemory        = 32 << 10  // what TLS adds to it
	http2Memory      = 10 << 20  // a connection of HTTP/2, with all the requests that it may have
	bodyCopies       = 4         // of a body that is read, decoded, stored and echoed
	decodeMemory     = 40        // times the largest body: two that are decoded
)

// memoryBound returns how many bytes a server with these limits needs at most, without
// its journal, which is outside the Go heap.
func memoryBound(connections int, maxBodyBytes int64, overTLS bool) int64 {
	bound := int64(0)
	if overTLS {
		bound = int64(connections)*tlsMemory + int64(server.HTTP2Connections(connections))*http2Memory
	}
	return bound + baseMemory + storeMemory +
		int64(connections)*connectionMemory +
		bodyCopies*middleware.BodyMemory(maxBodyBytes) +
		decodeMemory*maxBodyBytes
}

// heapGrowth is how much, in per cent of what is in use, the heap may grow before
// the garbage collector runs. Nearly all that a server holds is of requests in
// flight, which is little: with the default of 100 it would run all the time.
const heapGrowth = 400

// heapShare returns what of the memory the collector is told that there is: it is
// some requests late, and does not count everything.
func heapShare(bound int64) int64 { return bound / 4 * 3 }

// tuneRuntime lets the garbage collector work less than it would by itself, and
// harder when the heap comes near to what the server needs at most, rather than
// let it grow to a multiple of that. Where this process syncs files itself, it
// lets one more thread run Go code than there are processors, since one is in a
// sync most of the time (docs/adr/0009). GOGC, GOMEMLIMIT and GOMAXPROCS say
// otherwise.
func tuneRuntime(env map[string]string, connections int, c *config.Config) {
	if env["GOGC"] == "" {
		debug.SetGCPercent(heapGrowth)
	}
	if env["GOMEMLIMIT"] == "" {
		debug.SetMemoryLimit(heapShare(memoryBound(connections, c.MaxBodyBytes, c.TLS())))
	}
	if env["GOMAXPROCS"] == "" && c.Storage.Path != "" {
		runtime.SetDefaultGOMAXPROCS() // not what another call has left
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	}
}

// connectionsFor returns MAX_CONNECTIONS, or less if the process may open too few
// files for that, or an error if they are too few for any.
func connectionsFor(c *config.Config, files int, logger *slog.Logger) (int, error) {
	most := server.ConnectionsWithin(files)
	if most < 1 {
		return 0, fmt.Errorf("the limit of open files is %d, too low for a server that answers: raise it (ulimit -n), to 1024 for example", files)
	}
	if c.MaxConnections <= most {
		return c.MaxConnections, nil
	}
	logger.Warn("connections limited by the limit of open files", "max_connections", c.MaxConnections, "allowed", most,
		"hint", "raise it (ulimit -n)")
	return most, nil
}
