// Package e2e tests the engines for several machines with real etcd clusters and PostgreSQL
// servers, including broken and partitioned ones.
package e2e
