package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"plantstore/internal/cli"
)

// benchClients is the number of connections that create plants concurrently.
const benchClients = 64

// BenchmarkCreate creates plants over connections, with the complete server of serve. The
// clients do not allocate, so that only allocations of the server are counted.
func BenchmarkCreate(b *testing.B) {
	b.Chdir(b.TempDir())
	addr := startBenchServer(b)
	header := "POST /plants HTTP/1.1\r\nHost: " + addr + "\r\nAuthorization: Bearer " + token(b, nil) +
		"\r\nContent-Type: application/json\r\nContent-Length: "
	clients := make([]*benchClient, benchClients)
	for i := range clients {
		clients[i] = newBenchClient(b, addr, header)
	}
	var created atomic.Int64
	var all sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for _, c := range clients {
		all.Go(func() {
			for n := created.Add(1); n <= int64(b.N); n = created.Add(1) {
				if err := c.create(n); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
}

// startBenchServer starts a server that logs to a file, and returns its address.
func startBenchServer(b *testing.B) (addr string) {
	b.Helper()
	file, err := os.Create("log")
	if err != nil {
		b.Fatal(err)
	}
	log := &readyLog{w: file, line: make(chan string, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	exited := make(chan int, 1)
	go func() {
		exited <- cli.Main(ctx, cli.Process{
			Name: "plantstore", Engines: engines(),
			Args: []string{"plantstore", "serve", "--addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0"}, Stdout: io.Discard, Stderr: log,
		})
	}()
	b.Cleanup(func() {
		cancel()
		if code := <-exited; code != 0 {
			b.Errorf("the server exits with %d", code)
		}
		_ = file.Close()
	})
	return strings.TrimPrefix(server{first: <-log.line}.ready(b).BaseURL, "http://")
}

// A readyLog is a log that signals the record that the server is ready.
type readyLog struct {
	w     io.Writer
	ready atomic.Bool
	line  chan string // has capacity 1
}

// Write implements [io.Writer].
func (l *readyLog) Write(p []byte) (int, error) {
	if !l.ready.Load() && bytes.Contains(p, []byte(`"msg":"ready"`)) {
		l.ready.Store(true)
		l.line <- string(p)
	}
	return l.w.Write(p)
}

// benchID is the first id: all have the same number of digits.
const benchID = 1_000_000_000_000_000

// A benchClient is a connection with the memory for its requests and responses.
type benchClient struct {
	conn     net.Conn
	request  []byte
	id       []byte // in request
	response []byte
}

// newBenchClient connects to addr. header lacks the Content-Length.
func newBenchClient(b *testing.B, addr, header string) *benchClient {
	b.Helper()
	conn, err := new(net.Dialer).DialContext(b.Context(), "tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	body := fmt.Sprintf(`{"id":%d,"name":"Fern","tag":"indoor"}`, benchID)
	c := &benchClient{conn: conn, response: make([]byte, 4096)}
	c.request = fmt.Appendf(nil, "%s%d\r\n\r\n%s", header, len(body), body)
	at := bytes.LastIndex(c.request, []byte(strconv.Itoa(benchID)))
	c.id = c.request[at:at:len(c.request)]
	return c
}

// create creates plant n.
func (c *benchClient) create(n int64) error {
	strconv.AppendInt(c.id, benchID+n, 10)
	if _, err := c.conn.Write(c.request); err != nil {
		return err
	}
	for read := 0; ; {
		n, err := c.conn.Read(c.response[read:])
		if err != nil {
			return err
		}
		read += n
		if bytes.HasSuffix(c.response[:read], []byte("}\n")) {
			return c.check(c.response[:read])
		}
	}
}

// check checks that the response is a success.
func (c *benchClient) check(response []byte) error {
	if !bytes.HasPrefix(response, []byte("HTTP/1.1 200 ")) || !bytes.HasSuffix(response, []byte("{\"name\":\"Fern\",\"tag\":\"indoor\"}\n")) {
		return fmt.Errorf("responded with %q", response)
	}
	return nil
}
