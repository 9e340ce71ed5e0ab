// Package browse serves a page that shows the plants of a store to the user of this machine,
// until the command exits.
//
// The listener is on a loopback address, on a port of its own. Whoever has the link may read:
// it contains a random key, in the fragment, which browsers neither send nor log. The script
// of the page sends the key in the header field Authorization.
//
// Each request of the page does a bounded amount of work, however many plants there are:
// pages.go reads pages before and after an id, search.go a part of a search, and status.go
// counts.
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
	"sync"
	"sync/atomic"
	"time"

	"plantstore/storage"
)

// A Store has the methods that the page needs. It is closed after each request.
type Store interface {
	List(ctx context.Context, from int64) iter.Seq2[storage.Record, error]
	Count(ctx context.Context) (int64, error)
	Close() error
}

// A Source is the kind of location of the plants.
type Source string

// The sources.
const (
	Server  Source = "server"  // a running server
	File    Source = "file"    // the database file
	Cluster Source = "cluster" // an engine over a network
)

// Options are the settings of a [Site]. Open is required.
type Options struct {
	// Open opens the store for a request. The file is not locked between requests, so a server
	// can start at any time; later requests then use the server.
	Open func(ctx context.Context) (Store, Source, error)
	// Place is the location of the plants, which the page shows.
	Place string
	// Port to listen on; 0: any free port.
	Port int
}

const (
	// headerTimeout limits the time for receiving the header of a request, and maxHeader its size
	// in bytes.
	headerTimeout = 5 * time.Second
	maxHeader     = 16 << 10
	// shutdownTimeout limits the time for draining requests at shutdown.
	shutdownTimeout = time.Second
)

// A Site is the page and its listener.
type Site struct {
	options  Options
	key      string
	listener net.Listener
	top      atomic.Uint64 // position near the last page that ended with the highest id
	status   *sampler

	mu       sync.Mutex
	redirect string // directory of the file that leads to the link, or empty
}

// New listens on a loopback address. The caller must call Run.
func New(ctx context.Context, o Options) (*Site, error) {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port))
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		if failure, ok := errors.AsType[*net.OpError](err); ok {
			err = failure.Err // the address is in the message already
		}
		return nil, fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	return &Site{options: o, key: rand.Text(), listener: listener}, nil
}

// Link returns the URL of the page, with the key.
func (s *Site) Link() string { return "http://" + s.listener.Addr().String() + "/#key=" + s.key }

// Run serves the page until ctx is done. Then it ends the requests in progress.
func (s *Site) Run(ctx context.Context) error {
	server := &http.Server{
		Handler:           s.handler(),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: headerTimeout,
		MaxHeaderBytes:    maxHeader,
	}
	s.status = &sampler{ctx: ctx, count: s.count}
	served := make(chan error, 1)
	go func() { served <- server.Serve(s.listener) }()
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if err = server.Shutdown(grace); err != nil { // a client that reads nothing
			err = server.Close()
		}
		if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
	}
	s.status.counts.Wait()
	return errors.Join(err, s.removeRedirect())
}

// withStore opens the store and passes it to read.
func (s *Site) withStore(ctx context.Context, read func(Store, Source) error) (err error) {
	store, source, err := s.options.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return read(store, source)
}

// count counts the plants, for the sampler.
func (s *Site) count(ctx context.Context) (plants int64, source Source, err error) {
	err = s.withStore(ctx, func(store Store, from Source) (err error) {
		source = from
		plants, err = store.Count(ctx)
		return err
	})
	return plants, source, err
}
