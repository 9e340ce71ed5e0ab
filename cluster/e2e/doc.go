// Package e2e tests the engines for several machines with real clusters of etcd and real
// PostgreSQL servers, also broken and partitioned ones.
package e2e
