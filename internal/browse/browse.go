// Package browse serves a page that lists and searches the plants of a store, and shows the requests
// that an ephemeral server keeps. It listens on a loopback address while the command runs.
//
// The link to the page contains a random key in its fragment. Browsers don't send the fragment. The
// script of the page sends the key in the header field Authorization. A cookie would be less
// private: browsers send it to every port of the address, and so to other servers.
//
// Each request does a bounded amount of work, however many plants there are. The exception is a
// count by an engine that must read all plants; the page pauses after it.
package browse

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/net/netutil"

	"plantstore/storage"
)

// A Store is what the page needs of a store.
type Store interface {
	List(ctx context.Context, from int64) iter.Seq2[storage.Record, error]
	Count(ctx context.Context) (plants int64, err error)
}

// An OpenFunc opens the store for a request, and returns a description of its place. The request
// calls release afterwards. A file is not locked between requests, so a server can start at any
// time; later requests then use the server.
type OpenFunc func(ctx context.Context) (store Store, place string, release func() error, err error)

// A RequestsFunc returns the requests that the server keeps, of a query such as after=7&wait=3s.
type RequestsFunc func(ctx context.Context, query string) (any, error)

const (
	// requestTimeout limits the time for receiving a request, and between two on a connection.
	requestTimeout = 5 * time.Second
	// maxHeader limits the header of a request, in bytes.
	maxHeader = 16 << 10
	// maxConnections limits the connections at a time. Others wait.
	maxConnections = 100
)

// A Site is the page and its listener.
type Site struct {
	open     OpenFunc
	requests RequestsFunc
	key      string
	listener net.Listener
}

// Listen listens on a port of a loopback address, 0 for any free port. The caller must call Close.
func Listen(ctx context.Context, port int, open OpenFunc, received RequestsFunc) (*Site, error) {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		if failure, ok := errors.AsType[*net.OpError](err); ok {
			err = failure.Err // the address is in the message already
		}
		return nil, fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	return &Site{open: open, requests: received, key: rand.Text(), listener: netutil.LimitListener(listener, maxConnections)}, nil
}

// Link returns the URL of the page, with the key.
func (s *Site) Link() string { return "http://" + s.listener.Addr().String() + "/#key=" + s.key }

// Run serves the page until ctx is done. Then it closes all connections.
func (s *Site) Run(ctx context.Context) error {
	server := &http.Server{
		Handler:        s.handler(),
		BaseContext:    func(net.Listener) context.Context { return ctx },
		ReadTimeout:    requestTimeout,
		WriteTimeout:   2 * countTime,
		MaxHeaderBytes: maxHeader,
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close closes the port.
func (s *Site) Close() { _ = s.listener.Close() } // it may be closed already

// withStore opens the store and passes it to read.
func (s *Site) withStore(ctx context.Context, read func(store Store, place string) error) (err error) {
	store, place, release, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	return read(store, place)
}
