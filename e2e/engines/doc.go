// Package engines holds the tests of the engines for several machines: with real
// clusters of etcd and real PostgreSQL servers: intact, broken and partitioned.
package engines
