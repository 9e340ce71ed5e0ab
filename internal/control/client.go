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
	"net/url"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"plantstore/models"
	"plantstore/storage"
)

// maxConns bounds the connections of a client. The system refuses those that a
// server has not accepted yet beyond some number.
const maxConns = 32

// A Client reaches the store of a running server through its socket.
type Client struct {
	http *http.Client
}

// Dial reaches the server that has the database file open. It fails if there is
// none, or none that answers. A socket is ignored if the process that listens there
// runs neither as the owner of the file, nor as the caller, nor as root: whoever can
// write to the directory could pass for the server.
func Dial(ctx context.Context, database string) (*Client, error) {
	path := SocketPath(database)
	c := &Client{http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			conn, err := dial(ctx, database, path)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errNoServer, err)
			}
			return conn, nil
		},
		DisableCompression: true,
		MaxConnsPerHost:    maxConns,
	}}}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	answer, err := c.do(ctx, http.MethodGet, pathReady, nil)
	if err != nil {
		return nil, err
	}
	// A server that is about to end answers as well.
	return c, answer.Body.Close()
}

// CreateAll is CreateAll of [storage.Store]. If the server goes away, the outcomes are
// unknown.
func (c *Client) CreateAll(ctx context.Context, records []storage.Record) []error {
	return c.createAll(ctx, pathPlants, records)
}

// createAll sends records in requests that the server can hold.
func (c *Client) createAll(ctx context.Context, path string, records []storage.Record) []error {
	outcomes := make([]error, 0, len(records))
	for len(records) > 0 {
		body, n, err := encode(records)
		if err != nil {
			return append(outcomes, same(len(records), err)...)
		}
		batch, err := c.createBatch(ctx, path, body, n)
		if err != nil {
			batch = same(n, err)
		}
		outcomes = append(outcomes, batch...)
		records = records[n:]
	}
	return outcomes
}

// encode returns the body of a request with the first records, and how many
// they are. One beyond batchBytes goes alone, so that the server can refuse it.
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

// createBatch sends the body of n records and returns their outcomes.
func (c *Client) createBatch(ctx context.Context, path string, body []byte, n int) ([]error, error) {
	var failures []*failure
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", storage.ErrOverloaded, err)
	}
	err := c.call(ctx, http.MethodPost, path, bytes.NewReader(body), &failures)
	switch {
	case errors.Is(err, storage.ErrTooLarge):
		return nil, err
	case errors.Is(err, errNoServer): // any more: what became of its socket means nothing
		return nil, fmt.Errorf("%w: %w", storage.ErrUnavailable, errNoServer)
	case errors.Is(err, errEnded):
		err = errEnded
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", storage.ErrUnknown, err)
	}
	if len(failures) != n {
		return nil, fmt.Errorf("%w: the server answers with %d outcomes for %d plants", storage.ErrUnknown, len(failures), n)
	}
	outcomes := make([]error, n)
	for i, f := range failures {
		outcomes[i] = f.err()
	}
	return outcomes, nil
}

// same returns n times err.
func same(n int, err error) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// DryRun is DryRun of [storage.Store].
func (c *Client) DryRun(ctx context.Context, records []storage.Record) []error {
	return c.createAll(ctx, pathPlants+"?"+paramDryRun, records)
}

// Get is Get of [storage.Store].
func (c *Client) Get(ctx context.Context, id int64) (plant models.Plant, err error) {
	err = c.call(ctx, http.MethodGet, pathPlants+"/"+strconv.FormatInt(id, 10), nil, &plant)
	return plant, err
}

// List is List of [storage.Store].
func (c *Client) List(ctx context.Context, from int64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		path := pathPlants + "?" + url.Values{paramFrom: {strconv.FormatInt(from, 10)}}.Encode()
		err := c.stream(ctx, path, func(body io.Reader) error {
			decoder := jsontext.NewDecoder(body)
			for {
				var record storage.Record
				if err := json.UnmarshalDecode(decoder, &record, strict()); errors.Is(err, io.EOF) {
					return nil
				} else if errors.Is(err, errEnded) {
					return fmt.Errorf("%w: %w", storage.ErrUnavailable, errEnded)
				} else if err != nil {
					return fmt.Errorf("%w: the server's list cannot be read: %w", storage.ErrUnavailable, err)
				}
				if err := ctx.Err(); err != nil { // there may be more in the buffers
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

// errBreak ends a stream that the caller has had enough of.
var errBreak = errors.New("the caller wants no more")

// Count is Count of [storage.Store].
func (c *Client) Count(ctx context.Context) (plants int64, err error) {
	err = c.call(ctx, http.MethodGet, pathCount, nil, &plants)
	return plants, err
}

// Snapshot is Snapshot of [storage.Store].
func (c *Client) Snapshot(ctx context.Context, w io.Writer) error {
	return c.stream(ctx, pathSnapshot, func(body io.Reader) error {
		_, err := io.Copy(w, body)
		if errors.Is(err, errEnded) {
			return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
		}
		return err
	})
}

// Close closes the connections. The store of the server stays open.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// call sends a request and reads its answer, which is one value.
func (c *Client) call(ctx context.Context, method, path string, body io.Reader, value any) error {
	answer, err := c.do(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return failureIn(answer)
	}
	return json.UnmarshalRead(answer.Body, value, strict())
}

// stream sends a request whose answer goes to read, and returns what has ended
// it early, if anything has.
func (c *Client) stream(ctx context.Context, path string, read func(io.Reader) error) error {
	answer, err := c.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return failureIn(answer)
	}
	if err := read(answer.Body); err != nil {
		return err
	}
	var f *failure
	if text := answer.Trailer.Get(trailer); text != "" {
		if err := json.Unmarshal([]byte(text), &f, strict()); err != nil {
			return err
		}
	}
	return f.err()
}

// failureIn returns the error that an answer is.
func failureIn(answer *http.Response) error {
	var f failure
	if answer.StatusCode != http.StatusBadRequest {
		return fmt.Errorf("the running server is of another version (%s): use its own program", answer.Status)
	}
	if err := json.UnmarshalRead(answer.Body, &f, strict()); err != nil {
		return err
	}
	return f.err()
}

var (
	// errNoServer is why a request was not sent.
	errNoServer = errors.New("no server answers")
	// errEnded is why one that was sent has no answer, or not all of it.
	errEnded = errors.New("the server has ended meanwhile")
)

// An answerBody is that of an answer, which only a server that ends breaks off.
type answerBody struct {
	io.ReadCloser

	ctx context.Context //nolint:containedctx // that of the request
}

// Read implements [io.Reader].
func (b answerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = cmp.Or(b.ctx.Err(), errEnded)
	}
	return n, err
}

// do sends a request. Whatever goes wrong with it, the server is not available.
func (c *Client) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://plantstore"+path, body)
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Do(request)
	if err == nil {
		answer.Body = answerBody{answer.Body, ctx}
		return answer, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// How the connection broke, and the URL, mean nothing to anybody.
	if failure := new(url.Error); !errors.Is(err, errNoServer) {
		err = errEnded
	} else if errors.As(err, &failure) {
		err = failure.Err
	}
	return nil, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
}
