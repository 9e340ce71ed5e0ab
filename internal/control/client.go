package control

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"plantstore/internal/plantio"
	"plantstore/models"
	"plantstore/storage"
)

// The bounds of a line of a response, in bytes. A server that sends a longer one is not a plant
// store.
const (
	maxReply = 1 << 20
	maxPlant = 65 << 20 // more than MAX_BODY_BYTES can allow
)

var (
	// ErrNoServer means that no server listens, so that a request was not sent.
	ErrNoServer = errors.New("no server runs")
	// errEnded means that a request was sent, and the response is missing, incomplete or not valid.
	errEnded = errors.New("the response of the server is missing or incomplete")
)

// A Client reaches a running server through its socket. Its methods that are named like those of
// [storage.Store] have the same contract, for the plants of the server.
type Client struct {
	http *http.Transport
	info Info
}

// Dial connects to the server of a database. It returns [ErrNoServer] if there is none. It waits up to
// ten seconds for one that is starting.
func Dial(ctx context.Context, database string) (*Client, error) {
	path := SocketPath(database)
	c := &Client{http: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", ErrNoServer, err)
			}
			return conn, nil
		},
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxReply,
	}}
	ctx, cancel := context.WithTimeout(ctx, firstResponseTime)
	defer cancel()
	info, err := one[Info](ctx, c, http.MethodGet, "/info", maxReply)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.info = info
	return c, nil
}

// Info returns the information that the server reports about itself.
func (c *Client) Info() Info { return c.info }

// Ready returns nil if the server should get requests, else the reason why not.
func (c *Client) Ready(ctx context.Context) error {
	_, err := one[struct{}](ctx, c, http.MethodGet, "/ready", maxReply)
	return err
}

// Reset puts the server back to its seed, and returns the number of plants.
func (c *Client) Reset(ctx context.Context) (plants int64, err error) {
	n, err := one[number](ctx, c, http.MethodPost, "/reset", maxReply)
	return n.Plants, err
}

// Requests returns the requests that the server keeps, of a query such as after=7&wait=10s.
func (c *Client) Requests(ctx context.Context, query string) (Kept, error) {
	kept, err := one[Kept](ctx, c, http.MethodGet, "/requests?"+query, maxPlant)
	for i := range kept.Requests {
		kept.Requests[i].SetLines()
	}
	return kept, err
}

// CreateAll sends the records in one request. Of plants that the server refuses, the outcome is
// [plantio.ErrRefused]. If ctx or the server ends, the outcomes that it has not sent are
// [storage.ErrUnknown].
func (c *Client) CreateAll(ctx context.Context, records []storage.Record) []error {
	outcomes := make([]error, 0, len(records))
	response, err := c.create(ctx, records)
	if err == nil {
		defer response.Body.Close()
		for _, outcome := range lines[struct{}](response, maxPlant) {
			if len(outcomes) == len(records) {
				break
			}
			if exists, ok := errors.AsType[*storage.ExistsError](outcome); ok && exists.Identical {
				exists.Stored = records[len(outcomes)].Plant // which the server does not send again
			}
			outcomes = append(outcomes, outcome)
		}
		err = lost(response.Request)
	}
	return append(outcomes, slices.Repeat([]error{err}, len(records)-len(outcomes))...)
}

// create sends a request to create plants. If one of them is not valid UTF-8, it sends none.
func (c *Client) create(ctx context.Context, records []storage.Record) (*http.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", storage.ErrOverloaded, err)
	}
	var body bytes.Buffer
	out := plantio.NewWriter(&body, plantio.JSONLines)
	for _, record := range records {
		if err := out.Write(record); err != nil {
			return nil, err
		}
	}
	if err := out.Flush(); err != nil {
		return nil, err
	}
	return c.do(ctx, http.MethodPost, "/plants", &body)
}

// Get returns a plant.
func (c *Client) Get(ctx context.Context, id int64) (models.Plant, error) {
	record, err := one[storage.Record](ctx, c, http.MethodGet, "/plants/"+strconv.FormatInt(id, 10), maxPlant)
	return record.Plant, err
}

// List yields plants in ascending order.
func (c *Client) List(ctx context.Context, from int64) iter.Seq2[storage.Record, error] {
	return c.list(ctx, from, false)
}

// ListDescending yields plants in descending order.
func (c *Client) ListDescending(ctx context.Context, from int64) iter.Seq2[storage.Record, error] {
	return c.list(ctx, from, true)
}

func (c *Client) list(ctx context.Context, from int64, descending bool) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		response, err := c.do(ctx, http.MethodGet, fmt.Sprintf("/plants?from=%d&descending=%t", from, descending), http.NoBody)
		if err != nil {
			yield(storage.Record{}, err)
			return
		}
		defer response.Body.Close()
		for record, err := range lines[storage.Record](response, maxPlant) {
			err = cmp.Or(ctx.Err(), err) // records may be buffered
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// Count returns the number of plants.
func (c *Client) Count(ctx context.Context) (plants int64, err error) {
	n, err := one[number](ctx, c, http.MethodGet, "/count", maxReply)
	return n.Plants, err
}

// Snapshot writes a copy of the database to w.
func (c *Client) Snapshot(ctx context.Context, w io.Writer) error {
	response, err := c.do(ctx, http.MethodGet, "/snapshot", http.NoBody)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(w, response.Body)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return lost(response.Request)
	}
	text := response.Trailer.Get(failureTrailer)
	if err != nil || text == "" {
		return err
	}
	var f failure
	if json.Unmarshal([]byte(text), &f) != nil || f.Code == 0 {
		return lost(response.Request)
	}
	return f.err()
}

// Close closes the connections. The store of the server stays open.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// do sends a request.
func (c *Client) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://plantstore"+path, body)
	if err != nil {
		return nil, err
	}
	response, err := c.http.RoundTrip(request)
	switch {
	case err == nil && response.StatusCode == http.StatusOK:
		return response, nil
	case err == nil: // of a server of another version
		_ = response.Body.Close()
	case ctx.Err() == nil && errors.Is(err, ErrNoServer):
		return nil, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	return nil, lost(request)
}

// lost returns the error for a response that is missing, incomplete or not valid. A POST may have
// changed the store (C5.28).
func lost(request *http.Request) error {
	err := request.Context().Err()
	switch {
	case request.Method == http.MethodPost:
		return fmt.Errorf("%w: %w", storage.ErrUnknown, cmp.Or(err, errEnded))
	case err != nil:
		return err
	}
	return fmt.Errorf("%w: %w", storage.ErrUnavailable, errEnded)
}

// one sends a request and returns the only line of its response.
func one[T any](ctx context.Context, c *Client, method, path string, bound int) (value T, err error) {
	response, err := c.do(ctx, method, path, http.NoBody)
	if err != nil {
		return value, err
	}
	defer response.Body.Close()
	next, stop := iter.Pull2(lines[T](response, bound))
	defer stop()
	value, err, ok := next()
	if !ok {
		err = lost(response.Request)
	}
	return value, err
}

// lines yields the lines of a response, each of at most bound bytes: values or errors. An error of
// lost is the last one.
func lines[T any](response *http.Response, bound int) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		in := bufio.NewScanner(response.Body)
		in.Buffer(nil, bound)
		for in.Scan() {
			var line struct {
				Value   T       `json:",embed"`
				Failure failure `json:",embed"`
			}
			if json.Unmarshal(in.Bytes(), &line, json.RejectUnknownMembers(true)) != nil { // what it does not know may be a failure
				yield(line.Value, lost(response.Request))
				return
			}
			if !yield(line.Value, line.Failure.err()) {
				return
			}
		}
		if in.Err() != nil {
			yield(*new(T), lost(response.Request))
		}
	}
}
