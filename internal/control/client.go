package control

import (
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
	"github.com/go-json-experiment/json/jsontext"

	"plantstore/models"
	"plantstore/storage"
)

// maxConns bounds the connections of a client: the queue of a socket is short.
const maxConns = 32

// A Client reaches the store of a running server through its socket.
type Client struct {
	http *http.Transport
	info Info
}

// Dial connects to the server that has the database file open. It fails if no server
// responds. It ignores a socket whose process runs neither as the owner of the file, nor as
// the caller, nor as root: anyone who can write to the directory could create one.
func Dial(ctx context.Context, database string) (*Client, error) {
	path := SocketPath(database)
	c := &Client{http: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := dial(ctx, database, path)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errNoServer, err)
			}
			return conn, nil
		},
		DisableCompression: true,
		MaxConnsPerHost:    maxConns,
	}}
	ctx, cancel := context.WithTimeout(ctx, firstResponseTime)
	defer cancel()
	response, err := c.do(ctx, http.MethodGet, pathReady, nil)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK { // a server that shuts down responds as well
		_ = into(&c.info)(response.Body) // another version may not send it
	}
	return c, response.Body.Close()
}

// Info returns the information that the server reports about itself.
func (c *Client) Info() Info { return c.info }

// CreateAll is CreateAll of [storage.Store]. If the server exits, the outcomes are unknown.
func (c *Client) CreateAll(ctx context.Context, records []storage.Record) []error {
	return c.createAll(ctx, pathPlants, records)
}

// createAll sends records in requests of bounded size.
func (c *Client) createAll(ctx context.Context, path string, records []storage.Record) []error {
	outcomes := make([]error, 0, len(records))
	for len(records) > 0 {
		body, n, err := encode(records)
		if err != nil {
			return append(outcomes, slices.Repeat([]error{err}, len(records))...)
		}
		batch, err := c.createBatch(ctx, path, body, n)
		if err != nil {
			batch = slices.Repeat([]error{err}, n)
		}
		outcomes = append(outcomes, batch...)
		records = records[n:]
	}
	return outcomes
}

// encode returns the body of a request with the first n records. A record longer than
// batchBytes is sent alone; the server accepts or refuses it by its limits.
func encode(records []storage.Record) (body []byte, n int, err error) {
	var buffer bytes.Buffer
	encoder := jsontext.NewEncoder(&buffer)
	for _, record := range records[:min(len(records), batchPlants)] {
		before := buffer.Len()
		if err := json.MarshalEncode(encoder, record); err != nil {
			return nil, 0, fmt.Errorf("encode the plant with the id %d: %w", record.ID, err)
		}
		if n > 0 && buffer.Len() > batchBytes {
			return buffer.Bytes()[:before], n, nil
		}
		n++
	}
	return buffer.Bytes(), n, nil
}

func (c *Client) createBatch(ctx context.Context, path string, body []byte, n int) ([]error, error) {
	var failures []*failure
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", storage.ErrOverloaded, err)
	}
	err := c.call(ctx, http.MethodPost, path, bytes.NewReader(body), into(&failures))
	switch {
	case errors.Is(err, storage.ErrRefused):
		return nil, err
	case errors.Is(err, errNoServer): // it has exited; the cause is irrelevant
		return nil, fmt.Errorf("%w: %w", storage.ErrUnavailable, errNoServer)
	case errors.Is(err, errEnded):
		err = errEnded
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", storage.ErrUnknown, err)
	}
	if len(failures) != n {
		return nil, fmt.Errorf("%w: the server returned %d outcomes for %d plants", storage.ErrUnknown, len(failures), n)
	}
	outcomes := make([]error, n)
	for i, f := range failures {
		outcomes[i] = f.err()
	}
	return outcomes, nil
}

// DryRun is DryRun of [storage.Store].
func (c *Client) DryRun(ctx context.Context, records []storage.Record) []error {
	return c.createAll(ctx, pathPlants+"?"+paramDryRun, records)
}

// Get is Get of [storage.Store].
func (c *Client) Get(ctx context.Context, id int64) (plant models.Plant, err error) {
	err = c.call(ctx, http.MethodGet, pathPlants+"/"+strconv.FormatInt(id, 10), nil, into(&plant))
	return plant, err
}

// List is List of [storage.Store].
func (c *Client) List(ctx context.Context, from int64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		path := pathPlants + "?" + paramFrom + "=" + strconv.FormatInt(from, 10)
		err := c.call(ctx, http.MethodGet, path, nil, func(body io.Reader) error {
			decoder := jsontext.NewDecoder(body)
			for {
				var record storage.Record
				switch err := json.UnmarshalDecode(decoder, &record, strict()); {
				case errors.Is(err, io.EOF):
					return nil
				case err != nil:
					return fmt.Errorf("%w: the list of the server cannot be read: %w", storage.ErrUnavailable, err)
				}
				if err := ctx.Err(); err != nil { // records may be buffered
					return err
				}
				if !yield(record, nil) {
					return errBreak
				}
			}
		})
		if err != nil && !errors.Is(err, errBreak) {
			yield(storage.Record{}, err)
		}
	}
}

// errBreak ends a list when the caller stops the iteration.
var errBreak = errors.New("iteration stopped")

// Count is Count of [storage.Store].
func (c *Client) Count(ctx context.Context) (plants int64, err error) {
	err = c.call(ctx, http.MethodGet, pathCount, nil, into(&plants))
	return plants, err
}

// Snapshot is Snapshot of [storage.Store].
func (c *Client) Snapshot(ctx context.Context, w io.Writer) error {
	return c.call(ctx, http.MethodGet, pathSnapshot, nil, func(body io.Reader) error {
		_, err := io.Copy(w, body)
		return err
	})
}

// Reset makes the server replace all plants by its seed, and returns their number, or
// [storage.ErrNotEphemeral]. If the server exits, the outcome is unknown.
func (c *Client) Reset(ctx context.Context) (plants int64, err error) {
	err = c.call(ctx, http.MethodPost, pathReset, nil, into(&plants))
	return plants, err
}

// Close closes the connections. The store of the server stays open.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// call sends a request and passes the body of the response to read. It returns the failure in
// the response or in its trailer. If the response is missing or incomplete, the error matches
// [storage.ErrUnavailable].
func (c *Client) call(ctx context.Context, method, path string, body io.Reader, read func(io.Reader) error) error {
	response, err := c.do(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	err = receive(response, read)
	if errors.Is(err, errEnded) { // the place where the response breaks off is irrelevant
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, errEnded)
	}
	return err
}

// receive passes the body of a response to read. It returns the failure in the response or in
// its trailer.
func receive(response *http.Response, read func(io.Reader) error) error {
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusBadRequest:
		var f failure
		if err := into(&f)(response.Body); err != nil {
			return err
		}
		return f.err()
	default:
		return fmt.Errorf("the running server has another version, and returned %s: use the plantstore program of that version", response.Status)
	}
	if err := read(response.Body); err != nil {
		return err
	}
	var f *failure
	if text := response.Trailer.Get(trailer); text != "" {
		if err := json.Unmarshal([]byte(text), &f, strict()); err != nil {
			return err
		}
	}
	return f.err()
}

// into returns a function that decodes a body into value.
func into(value any) func(io.Reader) error {
	return func(body io.Reader) error { return json.UnmarshalRead(body, value, strict()) }
}

var (
	// errNoServer means that a request was not sent.
	errNoServer = errors.New("no server responds")
	// errEnded means that a request was sent, and the response is missing or incomplete.
	errEnded = errors.New("the server exited during the request")
)

// A responseBody fails with errEnded if the response is incomplete.
type responseBody struct {
	io.ReadCloser

	ctx context.Context //nolint:containedctx // of the request
}

func (b responseBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = cmp.Or(b.ctx.Err(), errEnded)
	}
	return n, err
}

// do sends a request. Its errors match [storage.ErrUnavailable], or are the error of ctx.
func (c *Client) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://plantstore"+path, body)
	if err != nil {
		return nil, err
	}
	response, err := c.http.RoundTrip(request)
	switch {
	case err == nil:
		response.Body = responseBody{response.Body, ctx}
		return response, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !errors.Is(err, errNoServer):
		err = errEnded // how the connection broke is irrelevant to the caller
	}
	return nil, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
}
