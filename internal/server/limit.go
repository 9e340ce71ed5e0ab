package server

const (
	// defaultMaxConnections bounds the connections if the configuration does not.
	defaultMaxConnections = 10_000
	// otherFiles is the number of files that a process has open besides connections.
	otherFiles = 64
)

// ConnectionsWithin returns the largest MaxConnections for a process with that limit of open
// files. It is not positive if the limit is too low.
func ConnectionsWithin(files int) int { return (files - otherFiles) / 9 * 8 }

// HTTP2Connections returns the maximum number of connections with HTTP/2 for that
// MaxConnections: together they have at most as many requests.
func HTTP2Connections(maxConnections int) int { return max(1, maxConnections/maxStreams) }

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
	http2   semaphore // limits the regular connections with HTTP/2
}

func newConnLimit(maxConnections int) connLimit {
	return connLimit{
		regular: make(semaphore, maxConnections),
		extra:   make(semaphore, max(1, maxConnections/8)),
		http2:   make(semaphore, HTTP2Connections(maxConnections)),
	}
}

// acquire takes a slot, which the caller must release, and reports whether it is a
// regular one. It may wait, until draining is closed: then connections that were
// accepted before the listener closes need none.
func (l connLimit) acquire(draining <-chan struct{}) (slot semaphore, regular bool) {
	if l.regular.tryAcquire() {
		return l.regular, true
	}
	select {
	case l.regular <- struct{}{}:
		return l.regular, true
	case l.extra <- struct{}{}:
		return l.extra, false
	case <-draining:
		return nil, false
	}
}
