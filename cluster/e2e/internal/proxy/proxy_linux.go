// Package proxy forwards connections between a client and a server, and cuts them at the worst
// moment.
package proxy

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"plantstore/e2e/internal/process"
	"plantstore/internal/must"
)

// A Fault is a way to cut a connection on which a request has arrived.
type Fault int32

// The faults. With each of them the request goes to the server.
const (
	None    Fault = iota
	Cut           // the connection is closed at once
	Swallow       // it is closed when the server responds, without the response
	Silence       // no response is ever forwarded
)

// leastRequest is smaller than a request that creates a plant, and larger than a keep-alive, in
// bytes.
const leastRequest = 120

// A Proxy forwards connections.
type Proxy struct {
	// Address is the address for clients, as host:port.
	Address string

	target string
	fault  atomic.Int32 // for the next request
	struck atomic.Int64
}

// Start starts a proxy to target, which runs until the end of the test, on the port of the
// target.
func Start(t testing.TB, target string) *Proxy {
	t.Helper()
	_, port, err := net.SplitHostPort(target)
	must.Do(t, err)
	listener := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort(process.Address(), port)))(t)
	p := &Proxy{Address: listener.Addr().String(), target: target}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for client, err := listener.Accept(); err == nil; client, err = listener.Accept() {
			go p.serve(client)
		}
	}()
	return p
}

// Arm makes the next request meet a fault.
func (p *Proxy) Arm(fault Fault) { p.fault.Store(int32(fault)) }

// Struck returns the number of requests that have met a fault.
func (p *Proxy) Struck() int64 { return p.struck.Load() }

// serve forwards one connection, in both directions.
func (p *Proxy) serve(client net.Conn) {
	server, err := new(net.Dialer).DialContext(context.Background(), "tcp", p.target)
	if err != nil {
		_ = client.Close()
		return
	}
	var met atomic.Int32 // the fault of this connection
	go func() {
		responses(client, server, &met)
		_, _ = client.Close(), server.Close()
	}()
	p.requests(client, server, &met)
	_, _ = client.Close(), server.Close()
}

// requests forwards the client's bytes.
func (p *Proxy) requests(client, server net.Conn, met *atomic.Int32) {
	chunk := make([]byte, 64<<10)
	for {
		n, err := client.Read(chunk)
		if err != nil {
			return
		}
		if n >= leastRequest && met.Load() == 0 {
			if fault := p.fault.Swap(0); fault != 0 {
				met.Store(fault)
				p.struck.Add(1)
			}
		}
		if _, err := server.Write(chunk[:n]); err != nil || Fault(met.Load()) == Cut {
			return
		}
	}
}

// responses forwards the server's bytes.
func responses(client io.Writer, server io.Reader, met *atomic.Int32) {
	chunk := make([]byte, 64<<10)
	for {
		n, err := server.Read(chunk)
		if err != nil {
			return
		}
		switch Fault(met.Load()) {
		case Swallow:
			return
		case Silence:
			continue
		}
		if _, err := client.Write(chunk[:n]); err != nil {
			return
		}
	}
}
