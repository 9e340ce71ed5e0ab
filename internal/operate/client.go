package operate

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
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"plantstore/internal/plantio"
	"plantstore/internal/requests"
	"plantstore/models"
	"plantstore/storage"
)

const (
	// The bounds of a line of a response, in bytes. A server that sends a longer one is not a plant
	// store.
	maxReply = 1 << 20
	maxPlant = 65 << 20 // more than MAX_BODY_BYTES can allow
	// startTime is the time in which a server that is starting must respond.
	startTime = 10 * time.Second
)

var (
	// ErrNoServer means that no server listens, so that a request was not sent.
	ErrNoServer = errors.New("no server runs")
	// errEnded means that a request was sent, and the response is missing, incomplete or not understood.
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
		DisableCompression: true,
	}}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	info, err := fetch[Info](ctx, c, http.MethodGet, "/info", maxReply)
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
	_, err := fetch[struct{}](ctx, c, http.MethodGet, "/readyz", maxReply)
	return err
}

// Reset puts the server back to its seed, and returns the number of plants.
func (c *Client) Reset(ctx context.Context) (plants int64, err error) {
	n, err := fetch[number](ctx, c, http.MethodPost, "/reset", maxReply)
	return n.Plants, err
}

// Requests returns the requests that the server keeps, of a query such as after=7&wait=10s.
func (c *Client) Requests(ctx context.Context, query string) (all []requests.Request, err error) {
	for request, err := range fetchAll[requests.Request](ctx, c, "/requests?"+query) {
		if err != nil {
			return nil, err
		}
		request.SetLines()
		all = append(all, request)
	}
	return all, nil
}

// serve implements [Backend]: it forwards the request to the server.
func (c *Client) serve(w *response, r *http.Request, _ endpoint) error {
	response, err := c.do(r.Context(), r.Method, r.URL.RequestURI(), http.NoBody)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	w.Header().Set("Content-Type", response.Header.Get("Content-Type"))
	_, err = io.Copy(w, response.Body)
	return err
}

// CreateAll sends the records in one request. If ctx or the server ends, the outcomes that it has not
// sent are [storage.ErrUnknown].
func (c *Client) CreateAll(ctx context.Context, records []storage.Record) []error {
	return c.outcomes(ctx, http.MethodPost, records)
}

// DryRun sends the records in one request.
func (c *Client) DryRun(ctx context.Context, records []storage.Record) []error {
	return c.outcomes(ctx, methodQuery, records)
}

// outcomes returns the outcomes of a request with records.
func (c *Client) outcomes(ctx context.Context, method string, records []storage.Record) []error {
	outcomes := make([]error, 0, len(records))
	response, err := c.send(ctx, method, records)
	if err == nil {
		defer response.Body.Close()
		err = lost(response.Request, errEnded)
		for _, outcome := range lines[struct{}](c, response) {
			if len(outcomes) == len(records) {
				break
			}
			if exists, ok := errors.AsType[*storage.ExistsError](outcome); ok && exists.Identical {
				exists.Stored = records[len(outcomes)].Plant // which the server does not send again
			}
			outcomes = append(outcomes, outcome)
		}
	}
	return append(outcomes, slices.Repeat([]error{err}, len(records)-len(outcomes))...)
}

// send sends records in JSON Lines. If one of them is not valid UTF-8, it sends none.
func (c *Client) send(ctx context.Context, method string, records []storage.Record) (*http.Response, error) {
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
	return c.do(ctx, method, "/plants", &body)
}

// Get returns a plant.
func (c *Client) Get(ctx context.Context, id int64) (models.Plant, error) {
	record, err := fetch[storage.Record](ctx, c, http.MethodGet, "/plant?id="+strconv.FormatInt(id, 10), maxPlant)
	return record.Plant, err
}

// List yields plants in ascending order.
func (c *Client) List(ctx context.Context, from int64) iter.Seq2[storage.Record, error] {
	return fetchAll[storage.Record](ctx, c, "/plants?from="+strconv.FormatInt(from, 10))
}

// Count returns the number of plants.
func (c *Client) Count(ctx context.Context) (plants int64, err error) {
	n, err := fetch[number](ctx, c, http.MethodGet, "/count", maxReply)
	return n.Plants, err
}

// Snapshot writes a copy of the database to w.
func (c *Client) Snapshot(ctx context.Context, w io.Writer) error {
	response, err := c.do(ctx, http.MethodGet, "/snapshot", http.NoBody)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	began := time.Now()
	n, err := io.Copy(w, response.Body)
	if took := time.Since(began); errors.Is(err, io.ErrUnexpectedEOF) && took > stallTime && float64(n) < snapshotRate*took.Seconds() {
		return errSlow // the server can only close the connection
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return lost(response.Request, errEnded)
	}
	if text := response.Trailer.Get(failureTrailer); err == nil && text != "" {
		_, err = decode[struct{}](c, response.Request, []byte(text))
	}
	return err
}

// Close closes the connections. The store of the server stays open.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// do sends a request, and returns the response, or the error that the server sends.
func (c *Client) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://plantstore"+path, body) //nolint:gosec,nolintlint // to the socket, which G704 does not know
	if err != nil {
		return nil, err
	}
	response, err := c.http.RoundTrip(request)
	switch {
	case err != nil && ctx.Err() == nil && errors.Is(err, ErrNoServer):
		return nil, fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	case err != nil:
		return nil, lost(request, errEnded)
	case response.StatusCode == http.StatusOK:
		return response, nil
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxReply))
	if err != nil {
		return nil, lost(request, errEnded)
	}
	_, err = decode[struct{}](c, request, text)
	return nil, cmp.Or(err, c.misunderstood(request))
}

// decode returns a value, or the error that a server has sent in its place.
func decode[T any](c *Client, request *http.Request, text []byte, options ...json.Options) (T, error) {
	var line struct {
		Value   T         `json:",embed"`
		Failure wireError `json:",embed"`
	}
	err := json.Unmarshal(text, &line, options...)
	code := line.Failure.Sent.Code
	unknownPath := line.Failure.Kind == "" && (code == models.CodeMethodNotAllowed || code == models.CodeNotFound)
	if err != nil || unknownPath {
		return line.Value, c.misunderstood(request)
	}
	return line.Value, line.Failure.err()
}

// misunderstood returns the error for a response that has come, and is not one of this version.
func (c *Client) misunderstood(request *http.Request) error {
	if own := ReadVersion().String(); c.info.Version != own {
		return lost(request, &VersionError{Server: c.info.Version, Command: own})
	}
	return lost(request, errEnded)
}

// lost returns the error for a request without a result, for this cause or because its context has ended.
// A POST may have changed the store (C5.28).
func lost(request *http.Request, cause error) error {
	kind, err := storage.ErrUnavailable, request.Context().Err()
	if request.Method == http.MethodPost {
		kind = storage.ErrUnknown
	} else if err != nil {
		return err
	}
	return fmt.Errorf("%w: %w", kind, cmp.Or(err, cause))
}

// fetch sends a request and returns the value of its response, of at most bound bytes.
func fetch[T any](ctx context.Context, c *Client, method, path string, bound int64) (value T, err error) {
	response, err := c.do(ctx, method, path, http.NoBody)
	if err != nil {
		return value, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, bound))
	if err != nil {
		return value, lost(response.Request, errEnded)
	}
	return decode[T](c, response.Request, text)
}

// fetchAll sends a request and yields the values of its response, until ctx is done.
func fetchAll[T any](ctx context.Context, c *Client, path string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		response, err := c.do(ctx, http.MethodGet, path, http.NoBody)
		if err != nil {
			yield(*new(T), err)
			return
		}
		defer response.Body.Close()
		for value, err := range lines[T](c, response) {
			err = cmp.Or(ctx.Err(), err) // values may be buffered
			if !yield(value, err) || err != nil {
				return
			}
		}
	}
}

// lines yields the lines of a response: values or errors. A line that it does not know may be a failure.
func lines[T any](c *Client, response *http.Response) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		in := bufio.NewScanner(response.Body)
		in.Buffer(nil, maxPlant)
		for in.Scan() {
			if in.Err() != nil && !jsontext.Value(in.Bytes()).IsValid() {
				break // a part of a line
			}
			if !yield(decode[T](c, response.Request, in.Bytes(), json.RejectUnknownMembers(true))) {
				return
			}
		}
		if in.Err() != nil {
			yield(*new(T), lost(response.Request, errEnded))
		}
	}
}
