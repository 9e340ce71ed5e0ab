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

// The memory of a server under attack, as measured and explained in docs/operations.md.
const (
	fixedMemory         = 256 << 20 // the program, the tokens, a batch and its transaction
	connectionMemory    = 64 << 10  // a connection with the largest header and a small body
	tlsConnectionMemory = 200 << 10 // the same with TLS, and a share of HTTP/2
	bodyCopies          = 4         // copies of a larger body: received, decoded, stored and returned
	decodeMemory        = 40        // times the largest body: two bodies are decoded at a time
)

// memoryBound returns the maximum memory in bytes of a server with these limits, without its
// journal: that is mapped, and its index is outside the Go heap.
func memoryBound(connections int, maxBodyBytes int64, overTLS bool) int64 {
	each := int64(connectionMemory)
	if overTLS {
		each = tlsConnectionMemory
	}
	return fixedMemory + int64(connections)*each + bodyCopies*middleware.BodyMemory(maxBodyBytes) + decodeMemory*maxBodyBytes
}

// heapGrowth is the GOGC of the server. Nearly all of its heap belongs to requests in progress,
// which is little: with the default of 100 the collector would run continuously.
const heapGrowth = 400

// tuneRuntime makes the garbage collector run less often, until the heap reaches three quarters
// of the memory bound. With a store in a file it sets GOMAXPROCS to one more than the number of
// processors, since one thread is in a sync most of the time (docs/adr/0009-speed.md). GOGC,
// GOMEMLIMIT and GOMAXPROCS override this.
func tuneRuntime(env map[string]string, connections int, c *config.Config) {
	if env["GOGC"] == "" {
		debug.SetGCPercent(heapGrowth)
	}
	if env["GOMEMLIMIT"] == "" {
		debug.SetMemoryLimit(memoryBound(connections, c.MaxBodyBytes, c.TLS()) / 4 * 3)
	}
	if env["GOMAXPROCS"] == "" && c.Storage.Path != "" {
		runtime.SetDefaultGOMAXPROCS() // in case an earlier server of this process has changed it
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	}
}

// connectionsFor returns MAX_CONNECTIONS, or less if the limit of open files requires it. It
// fails if that allows none.
func connectionsFor(c *config.Config, files int, logger *slog.Logger) (int, error) {
	most := server.ConnectionsWithin(files)
	if most < 1 {
		return 0, fmt.Errorf("the limit of open files is %d, too low for any connection: raise it (ulimit -n), to 1024 for example", files)
	}
	if c.MaxConnections <= most {
		return c.MaxConnections, nil
	}
	logger.Warn("connections limited by the limit of open files", "max_connections", c.MaxConnections, "allowed", most,
		"hint", "raise it (ulimit -n)")
	return most, nil
}
