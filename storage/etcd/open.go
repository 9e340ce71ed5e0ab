package etcd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"plantstore/storage"
)

const (
	// keepaliveTime is the least that servers allow.
	keepaliveTime = 5 * time.Second
	// silence is how long a connection may leave unanswered what was sent. Then
	// it is closed, and another member asked.
	silence = 2 * time.Second
)

// Opener returns the [storage.Opener] of this engine.
func Opener(logger *slog.Logger) storage.Opener {
	return func(ctx context.Context, loc storage.Location) (storage.Store, error) {
		t, err := parseURL(loc.URL)
		if err != nil {
			return nil, storage.BadURL(err)
		}
		s, err := open(ctx, t, loc.ReadOnly, logger)
		if err != nil {
			return nil, fmt.Errorf("etcd at %s: %w", strings.Join(t.endpoints, ","), err)
		}
		return s, nil
	}
}

// open connects to the cluster, and makes sure that it answers and lets us do
// what we are here for.
func open(ctx context.Context, t target, readOnly bool, logger *slog.Logger) (*Store, error) {
	client, err := connect(ctx, t)
	if err != nil {
		return nil, explain(err, t)
	}
	s := &Store{client: client, keys: keys{t.prefix}, timeout: t.timeout, user: t.user != "", group: storage.ReadOnly()}
	if err := s.probe(ctx, readOnly, logger); err != nil {
		_ = client.Close()
		return nil, explain(err, t)
	}
	if !readOnly {
		commit := storage.Remote{Insert: s.insert, Timeout: t.timeout, Patience: patience}.Commit
		s.group = storage.NewGroupCommit(commit, storage.Limits{BatchPlants: batchPlants, BatchBytes: batchBytes, Writers: writers})
		s.pulse = storage.NewPulse(s.tryToWrite) //nolint:contextcheck // it outlives the context of the opening
	}
	return s, nil
}

// connect returns a client. Only if it has to log in does it wait for the
// cluster, and for no longer than the time-out.
func connect(ctx context.Context, t target) (*clientv3.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	for {
		client, err := newClient(t)
		if err == nil || !silent(err) || !storage.Sleep(ctx, pause) {
			return client, err
		}
	}
}

func newClient(t target) (*clientv3.Client, error) {
	scheme := "http://"
	if t.tls != nil {
		scheme = "https://"
	}
	urls := make([]string, len(t.endpoints))
	for i, endpoint := range t.endpoints {
		urls[i] = scheme + endpoint
	}
	// A member that comes back is found within a second, after whatever time.
	again := backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second}
	return clientv3.New(clientv3.Config{
		Endpoints: urls, Username: t.user, Password: t.password, TLS: t.tls, DialTimeout: t.timeout,
		DialKeepAliveTime: keepaliveTime, DialKeepAliveTimeout: silence, PermitWithoutStream: true,
		Logger:          zap.NewNop(), // what goes wrong, the store returns
		MaxUnaryRetries: 1,            // the store tries again, and knows why
		DialOptions: []grpc.DialOption{
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: again, MinConnectTimeout: silence}),
			grpc.WithStatsHandler(witness{}),
			grpc.WithChainUnaryInterceptor(failFast),
		},
	})
}

// failFast lets a request fail when no member can be reached, with the reason,
// where the client would wait for one.
func failFast(ctx context.Context, method string, request, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	return invoke(ctx, method, request, reply, cc, append(options, grpc.WaitForReady(false))...)
}

// probe reads below the prefix and, if plants are to be created, asks for the
// right to write there, by a transaction that never does.
func (s *Store) probe(ctx context.Context, readOnly bool, logger *slog.Logger) error {
	if _, err := s.read(ctx, s.keys.first(), clientv3.WithRange(s.keys.end()), clientv3.WithLimit(1), clientv3.WithKeysOnly()); err != nil {
		return err
	}
	if readOnly {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	err := s.tryToWrite(ctx)
	if errors.Is(err, rpctypes.ErrNoSpace) {
		logger.Warn("no space left in etcd: creates are refused until there is", "error", err)
		return nil
	}
	return err
}

// tryToWrite goes all the way of a create, through the quorum, and stores nothing.
func (s *Store) tryToWrite(ctx context.Context) error {
	never := clientv3.Compare(clientv3.CreateRevision(s.keys.first()), "<", 0)
	_, err := s.client.Txn(clientv3.WithRequireLeader(ctx)).If(never).Then(clientv3.OpPut(s.keys.of(0), "")).Commit()
	return err
}

// explain says what can be done about an error of opening.
func explain(err error, t target) error {
	switch {
	case errors.Is(err, rpctypes.ErrPermissionDenied):
		return fmt.Errorf("the user %q lacks the right to read and write below the prefix %s: %w", t.user, t.prefix, err)
	case errors.Is(err, rpctypes.ErrUserEmpty):
		return fmt.Errorf("it asks for a user and a password, or for a certificate, and the URL has none: %w", err)
	case errors.Is(err, rpctypes.ErrAuthFailed):
		return fmt.Errorf("the user or the password is wrong: %w", err)
	case silent(err):
		return fmt.Errorf("no member with a quorum has answered within %v: %w", t.timeout, err)
	}
	return err
}
