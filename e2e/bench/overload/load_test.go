package overload

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
)

// A load is a set of clients of one server.
type load struct {
	b      *testing.B
	server *plantstore.Server
	token  string
	next   atomic.Int64 // id

	mu   sync.Mutex
	kept []*client // open connections that are not in use
}

// A client is one connection.
type client struct {
	net.Conn
	in *bufio.Reader
}

// figures are the results of some requests.
type figures struct {
	mu       sync.Mutex
	created  int
	refusals []time.Duration // time from when the request was due to its error 503
}

// take returns an idle connection, or a new one.
func (l *load) take() (*client, error) {
	l.mu.Lock()
	if last := len(l.kept) - 1; last >= 0 {
		c := l.kept[last]
		l.kept = l.kept[:last]
		l.mu.Unlock()
		return c, nil
	}
	l.mu.Unlock()
	// Several addresses provide enough ports.
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+l.next.Load()%50))}} //nolint:gosec // it is small
	nc, err := from.DialContext(l.b.Context(), "tcp", strings.TrimPrefix(l.server.BaseURL, "http://"))
	if err != nil {
		return nil, err
	}
	return &client{nc, bufio.NewReaderSize(nc, 1<<10)}, nil
}

// keep makes a connection available for reuse.
func (l *load) keep(c *client) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, c)
}

// create sends a plant that was due at that time, and records the outcome.
func (l *load) create(due time.Time, f *figures) {
	c, err := l.take()
	if err != nil {
		l.b.Errorf("no connection: %v", err)
		return
	}
	status, text, closes, err := l.exchange(c)
	took := time.Since(due)
	if err != nil || closes {
		_ = c.Close()
	} else {
		l.keep(c)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err != nil:
		l.b.Errorf("no response: %v", err)
	case status == http.StatusOK:
		f.created++
	case strings.Contains(text, `"error":503`):
		f.refusals = append(f.refusals, took)
	default:
		l.b.Errorf("response %d %s", status, text)
	}
}

// exchange sends a new plant and reads the response.
func (l *load) exchange(c *client) (status int, text string, closes bool, err error) {
	body := fmt.Sprintf(`{"id":%d,"name":"Monstera","tag":"climber"}`, l.next.Add(1))
	if _, err := fmt.Fprintf(c, "POST /plants HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+
		"Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", l.token, len(body), body); err != nil {
		return 0, "", false, err
	}
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0, "", false, err
	}
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), response.Close, err
}

// closed runs so many clients in a closed loop for that long, and returns the number of creates
// per second.
func (l *load) closed(clients int, long time.Duration) float64 {
	f, start := new(figures), time.Now()
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for due := time.Now(); due.Sub(start) < long && !l.b.Failed(); due = time.Now() {
				l.create(due, f)
			}
		})
	}
	all.Wait()
	return float64(f.created) / time.Since(start).Seconds()
}

// open sends plants at that rate for that long, regardless of the responses, and returns the
// number of creates per second. Requests in progress at the end do not count.
func (l *load) open(rate float64, long time.Duration) (goodput float64, refusals []time.Duration) {
	f, start := new(figures), time.Now()
	var all sync.WaitGroup
	for n := 0; time.Since(start) < long && !l.b.Failed(); {
		for ; float64(n) < time.Since(start).Seconds()*rate; n++ {
			due := start.Add(time.Duration(float64(n) / rate * float64(time.Second)))
			all.Go(func() { l.create(due, f) })
		}
		time.Sleep(time.Millisecond)
	}
	f.mu.Lock()
	created, took := f.created, time.Since(start)
	f.mu.Unlock()
	all.Wait()
	slices.Sort(f.refusals)
	return float64(created) / took.Seconds(), f.refusals
}

// percentile returns a percentile of sorted durations in milliseconds, 0 if there are none.
func percentile(sorted []time.Duration, of float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(of*float64(len(sorted)-1))].Seconds() * 1e3
}
