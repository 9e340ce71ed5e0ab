package overload

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"plantstore/e2e/internal/must"
	"plantstore/e2e/internal/plantstore"
	"plantstore/models"
)

// A site is a server and the state of its clients.
type site struct {
	t      testing.TB
	server *plantstore.Server
	token  string
}

func newSite(t testing.TB, env ...string) *site {
	t.Helper()
	s := &site{t: t, server: plantstore.Start(t, plantstore.Options{Env: append(env, "LOG_LEVEL=error")})}
	s.token = s.server.Token("--ttl", "0")
	return s
}

// A client has one connection to the server.
type client struct {
	net.Conn
	in *bufio.Reader
}

// dial opens a connection. Many clients n connect from several addresses, which provide enough
// ports.
func (s *site) dial(n int) (*client, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+n%20))}}
	nc, err := dialer.DialContext(s.t.Context(), "tcp", strings.TrimPrefix(s.server.BaseURL, "http://"))
	if err != nil {
		return nil, err
	}
	return &client{nc, bufio.NewReaderSize(nc, 1<<10)}, nil
}

// A reply is the response to a request.
type reply struct {
	models.Error // if the status is 400

	status int
	closes bool
}

// String returns the reply for a message.
func (a reply) String() string { return fmt.Sprintf("%d %d %q", a.status, a.Code, a.Message) }

// created, refused and identical report whether the plant was stored now, was refused for lack
// of resources, or had been stored before.
func (a reply) created() bool { return a.status == http.StatusOK }

func (a reply) refused() bool {
	return a.isError(http.StatusServiceUnavailable) && strings.Contains(a.Message, "not stored")
}

func (a reply) identical() bool {
	return a.isError(http.StatusConflict) && strings.Contains(a.Message, "is identical")
}

func (a reply) isError(code models.Code) bool {
	return a.status == http.StatusBadRequest && a.Code == code
}

// header returns the header of a create with these further fields.
func (s *site) header(lines ...string) string {
	return "POST /plants HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer " + s.token + "\r\n" +
		strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// create returns the request for a plant.
func (s *site) create(id int64) string {
	body := fmt.Sprintf(`{"id":%d,"name":"Monstera %d","tag":"climber"}`, id, id)
	return s.header(fmt.Sprintf("Content-Length: %d", len(body))) + body
}

// do sends a request and reads the response.
func (c *client) do(request string) (reply, error) {
	if err := c.send(request); err != nil {
		return reply{}, err
	}
	return c.read()
}

func (c *client) send(text string) error {
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, err := io.WriteString(c, text)
	return err
}

// read reads a response.
func (c *client) read() (a reply, err error) {
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return reply{}, err
	}
	a.status, a.closes = response.StatusCode, response.Close
	err = json.NewDecoder(response.Body).Decode(&a.Error) // absent in the JSON of a Plant
	_, _ = io.Copy(io.Discard, response.Body)             // only the last header field
	return a, err
}

// each calls do for each number below n, workers at a time.
func each(n, workers int, do func(i int)) {
	numbers := make(chan int, n)
	for i := range n {
		numbers <- i
	}
	close(numbers)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := range numbers {
				do(i)
			}
		})
	}
	all.Wait()
}

// verify checks that each of these plants is stored as it was sent (C5.26).
func (s *site) verify(ids []int64) {
	s.t.Helper()
	const workers = 16
	each(workers, workers, func(w int) {
		c, err := s.dial(w)
		if err != nil {
			s.t.Error(err)
			return
		}
		defer func() { _ = c.Close() }()
		for i := w; i < len(ids); i += workers {
			if a, err := c.do(s.create(ids[i])); err != nil || !a.identical() {
				s.t.Errorf("id %d was acknowledged; now: %v, %v", ids[i], a, err)
				return
			}
		}
	})
}

// metric returns a metric without labels.
func (s *site) metric(name string) int64 {
	s.t.Helper()
	request := must.Get(http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.server.AdminURL+"/metrics", http.NoBody))(s.t)
	response := must.Get(http.DefaultClient.Do(request))(s.t)
	text, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(strings.TrimSpace(line), name+" "); found {
			number := must.Get(strconv.ParseFloat(value, 64))(s.t)
			return int64(number)
		}
	}
	s.t.Fatalf("there is no metric %s", name)
	return 0
}

// A holding is what a server holds for its connections.
type holding struct{ goroutines, files int64 }

func (s *site) held() holding {
	s.t.Helper()
	s.metric("go_goroutines") // from now on there is a connection to the admin listener
	return holding{s.metric("go_goroutines"), s.metric("process_open_fds")}
}

// wantHeld waits until the server holds no more than most.
func (s *site) wantHeld(most holding) {
	s.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		now := s.held()
		if now.goroutines <= most.goroutines && now.files <= most.files {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("the server holds %+v, want at most %+v", now, most)
		}
	}
}
