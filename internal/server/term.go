package server

import (
	"context"
	"sync"
	"time"
)

// A term is the context of one request after the other on a connection, with the
// values of the context that net/http gave the request. It ends RequestTimeout
// after the request began, or when the server cuts off what is left; not when the
// client hangs up. As long as neither happens, all requests share a channel and a
// timer, which costs less than contexts of their own.
type term struct {
	context.Context // for the values

	mu      sync.Mutex // guards the following
	timer   *time.Timer
	running bool // timer is
	active  bool // a request has it
	over    bool // the server has cut it off
	due     time.Time
	done    chan struct{}
	err     error // why done is closed
}

// begin gives t to a request with that context.
func (t *term) begin(of context.Context, timeout time.Duration) *term {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Context, t.due, t.active = of, time.Now().Add(timeout), true
	if t.done == nil || t.err != nil {
		t.done, t.err = make(chan struct{}), nil
	}
	switch {
	case t.running:
	case t.timer == nil:
		t.timer = time.AfterFunc(timeout, t.check)
	default:
		t.timer.Reset(timeout)
	}
	t.running = true
	if t.over {
		t.cancel(context.Canceled)
	}
	return t
}

// check ends t if it is time to, or else waits for that. A request that has come
// since the timer was started is due later.
func (t *term) check() {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := time.Until(t.due)
	switch {
	case !t.active:
		t.running = false
	case left > 0:
		t.timer.Reset(left)
	default:
		t.running = false
		t.cancel(context.DeadlineExceeded)
	}
}

// cut ends t now and for ever.
func (t *term) cut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	if t.active {
		t.cancel(context.Canceled)
	}
}

func (t *term) cancel(err error) {
	if t.err == nil {
		t.err = err
		close(t.done)
	}
}

// end takes t back.
func (t *term) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.active, t.Context = false, context.Background()
}

// release stops the timer at the end of the connection.
func (t *term) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
	}
}

// Deadline implements [context.Context].
func (t *term) Deadline() (time.Time, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.due, true
}

// Done implements [context.Context].
func (t *term) Done() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.done
}

// Err implements [context.Context].
func (t *term) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}
