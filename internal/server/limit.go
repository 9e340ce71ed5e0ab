package server

const (
	// defaultMaxConnections bounds the connections if the configuration does not.
	defaultMaxConnections = 10_000
	// maxStreams bounds the requests at a time on a connection of HTTP/2: the minimum that
	// RFC 9113, 6.5.2, recommends. Because of their memory, that many times fewer connections
	// may use HTTP/2.
	maxStreams = 100
)

// A semaphore holds a token for each slot in use.
type semaphore chan struct{}

// tryAcquire takes a slot if there is one.
func (s semaphore) tryAcquire() bool {
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

// release gives a slot back. A nil semaphore has none.
func (s semaphore) release() {
	if s != nil {
		<-s
	}
}

// A connLimit bounds the open connections. A connection beyond the regular slots is
// rejected with an Error, in one of a few extra slots. If these are in use as well,
// connections wait to be accepted.
type connLimit struct {
	regular semaphore
	extra   semaphore
	http2   semaphore // limits the regular connections with HTTP/2, see maxStreams
}

func newConnLimit(maxConnections int) connLimit {
	return connLimit{
		regular: make(semaphore, maxConnections),
		extra:   make(semaphore, max(1, maxConnections/8)),
		http2:   make(semaphore, max(1, maxConnections/maxStreams)),
	}
}

// acquire takes a slot, preferably a regular one, which the caller must release. It may
// wait, until draining is closed: then connections that were accepted before the listener
// closes need none.
func (l connLimit) acquire(draining <-chan struct{}) (slot semaphore) {
	if l.regular.tryAcquire() {
		return l.regular
	}
	select {
	case l.regular <- struct{}{}:
		return l.regular
	case l.extra <- struct{}{}:
		return l.extra
	case <-draining:
		return nil
	}
}
