// Package engines holds the tests of the engines for several machines: with real
// clusters of etcd and real PostgreSQL servers, whole, broken and cut off.
package engines
