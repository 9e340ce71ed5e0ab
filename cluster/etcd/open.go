package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/peer"

	"plantstore/cluster/internal/retry"
	"plantstore/storage"
)

const (
	// keepaliveTime is the minimum of gRPC's clients.
	keepaliveTime = 10 * time.Second
	// keepaliveTimeout is the time without a response after which a connection is
	// closed and another member is used.
	keepaliveTimeout = 2 * time.Second
)

// Open is the [storage.Opener] of this engine. A store that cannot reach etcd opens, unless it is for
// reading, and is not ready until it can.
func Open(ctx context.Context, loc storage.Location, options storage.Options) (*storage.Store, error) {
	t, err := parseURL(loc.URL)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", storage.ErrURL, err)
	}
	e := &Engine{target: t, keys: keys(t.prefix), retry: retry.Policy{Timeout: t.timeout, Attempt: firstAttempt}}
	// The login, and the right to read below the prefix.
	_, err = e.read(ctx, string(e.keys), clientv3.WithRange(e.keys.end()), clientv3.WithLimit(1), clientv3.WithKeysOnly())
	if err != nil && (options.ReadOnly || !unreachable(err)) {
		return nil, errors.Join(e.failed(err), e.Close())
	}
	store := storage.New(e, nil, storage.Limits{
		BatchPlants: batchPlants, BatchBytes: batchBytes, Writers: writers,
	}, options)
	if options.ReadOnly {
		return store, nil
	}
	switch err := store.Ready(); { // after an empty batch
	case errors.Is(err, storage.ErrNoSpace):
		options.Log().Warn("no space left in etcd: creates refused", "cause", err.Error(),
			"hint", "compact and defragment etcd, or raise its quota, and disarm its alarm")
	case err != nil && unreachable(err):
		options.Log().Warn("no connection to etcd: creates refused until there is one", "cause", e.failed(err).Error())
	case err != nil:
		return nil, errors.Join(e.failed(err), store.Close())
	}
	return store, nil
}

// unreachable reports whether an error of opening may pass.
func unreachable(err error) bool { return retriable(err) && !errors.Is(err, rpctypes.ErrUserEmpty) }

// failed returns the error of opening.
func (e *Engine) failed(err error) error {
	return fmt.Errorf("etcd at %s: %w", strings.Join(e.target.endpoints, ","), advise(err, e.target))
}

var errClosed = errors.New("the store is closed")

// connected returns the client. It logs in when it is created, which fails while no member responds.
func (e *Engine) connected() (*clientv3.Client, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errClosed
	}
	if e.client == nil {
		client, err := newClient(e.target)
		if err != nil {
			return nil, err
		}
		e.client = client
	}
	return e.client, nil
}

func newClient(t target) (*clientv3.Client, error) {
	// Reconnect within a second to a member that is available again.
	again := backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second}
	return clientv3.New(clientv3.Config{
		Endpoints: t.endpoints, Username: t.user, Password: t.password, TLS: t.tls, DialTimeout: t.timeout,
		DialKeepAliveTime: keepaliveTime, DialKeepAliveTimeout: keepaliveTimeout, PermitWithoutStream: true,
		Logger:          zap.NewNop(), // errors are returned to the store
		MaxUnaryRetries: 1,            // the store retries itself
		DialOptions: []grpc.DialOption{
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: again, MinConnectTimeout: keepaliveTimeout}),
			grpc.WithChainUnaryInterceptor(invoke),
		},
	})
}

// sentKey is the context key of a *bool that invoke sets if the request was sent.
type sentKey struct{}

// invoke sends a request. If no member is reachable, the request fails with the cause: by
// default the client would wait.
func invoke(ctx context.Context, method string, request, reply any, cc *grpc.ClientConn, next grpc.UnaryInvoker, options ...grpc.CallOption) error {
	var member peer.Peer // set once the request has a connection
	err := next(ctx, method, request, reply, cc, append(options, grpc.WaitForReady(false), grpc.Peer(&member))...)
	if sent, ok := ctx.Value(sentKey{}).(*bool); ok && member.Addr != nil {
		*sent = true
	}
	return err
}

// tryToWrite commits a transaction like a create through the quorum, without a plant.
func (e *Engine) tryToWrite(ctx context.Context) error {
	client, err := e.connected()
	if err != nil {
		return classify(err, false)
	}
	never := clientv3.Compare(clientv3.CreateRevision(string(e.keys)), "<", 0)
	_, err = client.Txn(clientv3.WithRequireLeader(ctx)).If(never).Then(clientv3.OpPut(e.keys.of(0), "")).Commit()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, rpctypes.ErrNoSpace):
		return fmt.Errorf("%w: %w", storage.ErrNoSpace, err)
	}
	return classify(err, false) // nothing is stored
}

// advise adds the remedy to an error of opening.
func advise(err error, t target) error {
	switch {
	case errors.Is(err, rpctypes.ErrPermissionDenied):
		return fmt.Errorf("the user %q lacks the right to read and write below the prefix %s: %w", t.user, t.prefix, err)
	case errors.Is(err, rpctypes.ErrUserEmpty):
		return fmt.Errorf("the server requires a user and a password, or a certificate, and the URL has none: %w", err)
	case errors.Is(err, rpctypes.ErrAuthFailed):
		return fmt.Errorf("the user or the password is wrong: %w", err)
	case retriable(err):
		return fmt.Errorf("no member with a quorum has responded within %v: %w", t.timeout, err)
	}
	return err
}
