package plantstore

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"plantstore/internal/must"
)

// A Conn is a connection to a server, for requests of any bytes.
type Conn struct {
	net.Conn

	In *bufio.Reader // of the responses
}

// Dial connects to the listener at url until the end of the test.
func Dial(t testing.TB, url string) *Conn {
	t.Helper()
	c := must.Get(DialFrom(t.Context(), url, 1))(t)
	t.Cleanup(func() { _ = c.Close() })
	must.Do(t, c.SetDeadline(time.Now().Add(Patience)))
	return c
}

// DialFrom connects to the listener at url, without TLS, from the address 127.0.0.HOST: many
// clients need the ports of several addresses.
func DialFrom(ctx context.Context, url string, host int) (*Conn, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(host))}}
	_, address, _ := strings.Cut(url, "://")
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &Conn{conn, bufio.NewReaderSize(conn, 1<<10)}, nil
}

// Wrap replaces the connection, as by one over TLS.
func (c *Conn) Wrap(conn net.Conn) {
	c.Conn = conn
	c.In.Reset(conn)
}

// Header returns the header of a create with these further fields.
func Header(token string, fields ...string) string {
	return "POST /plants HTTP/1.1\r\nHost: plants.test\r\nContent-Type: application/json\r\nAuthorization: Bearer " + token + "\r\n" +
		strings.Join(append(fields, "", ""), "\r\n")
}

// Create returns the bytes of a create with these further header fields.
func Create(token, body string, fields ...string) string {
	return Header(token, append(fields, fmt.Sprint("Content-Length: ", len(body)))...) + body
}

// Send sends text.
func (c *Conn) Send(text string) error {
	const crowded = 4 * Patience // a load may have thousands of them
	if err := c.SetDeadline(time.Now().Add(crowded)); err != nil {
		return err
	}
	_, err := io.WriteString(c, text)
	return err
}

// Receive reads a response.
func (c *Conn) Receive() (Reply, error) {
	response, err := http.ReadResponse(c.In, nil)
	if err != nil {
		return Reply{}, err
	}
	return Read(response)
}

// Do sends a request and reads the response.
func (c *Conn) Do(request string) (Reply, error) {
	if err := c.Send(request); err != nil {
		return Reply{}, err
	}
	return c.Receive()
}
