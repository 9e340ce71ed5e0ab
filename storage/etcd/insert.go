package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"

	"plantstore/storage"
)

// insert is the [storage.InsertFunc]: one transaction, in it one for each plant,
// which puts it if its key was never created and else gets what is there.
func (s *Store) insert(ctx context.Context, request storage.Request, batch []storage.Item) error {
	ops, items := s.operations(request, batch)
	if len(ops) == 0 {
		return nil
	}
	var sent atomic.Bool
	ctx = context.WithValue(clientv3.WithRequireLeader(ctx), sentKey{}, &sent)
	answer, err := s.client.Txn(ctx).Then(ops...).Commit()
	if errors.Is(err, rpctypes.ErrNoSpace) {
		return s.afterNoSpace(ctx, request, items, err)
	}
	if err != nil {
		return judge(err, sent.Load())
	}
	if len(answer.Responses) != len(ops) {
		return fmt.Errorf("%w: etcd has answered %d of %d creates", storage.ErrUnknown, len(answer.Responses), len(ops))
	}
	for i, item := range items {
		s.settle(item, request, answer.Responses[i].GetResponseTxn())
	}
	return nil
}

// afterNoSpace finds out what became of a transaction that found the quota used up:
// a member says so of the one that has used it up, too, which it has applied.
func (s *Store) afterNoSpace(ctx context.Context, request storage.Request, items []*storage.Item, cause error) error {
	var gets []clientv3.Op
	for _, item := range items {
		gets = append(gets, clientv3.OpGet(s.keys.of(item.ID)))
	}
	answer, err := s.client.Txn(ctx).Then(gets...).Commit()
	if err != nil || len(answer.Responses) != len(gets) {
		return fmt.Errorf("%w: %w", storage.ErrUnknown, cause)
	}
	for i, item := range items {
		kvs := answer.Responses[i].GetResponseRange().Kvs
		if len(kvs) == 0 {
			item.Existing, item.Err = nil, fmt.Errorf("%w: %w", storage.ErrNoSpace, cause)
			continue
		}
		s.compare(item, request, kvs[0].Value)
	}
	return nil
}

// operations returns what creates the plants of a batch, and the items that it is
// for. One that no server takes is refused at once.
func (s *Store) operations(request storage.Request, batch []storage.Item) (ops []clientv3.Op, items []*storage.Item) {
	for i := range batch {
		item := &batch[i]
		key := s.keys.of(item.ID)
		value := record{request, item.Plant}.encode(key)
		if len(value) > maxValue {
			item.Existing, item.Err = nil, fmt.Errorf("a plant of %d bytes is larger than etcd takes: at most %d", len(value), maxValue)
			continue
		}
		items = append(items, item)
		ops = append(ops, clientv3.OpTxn(
			[]clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(key), "=", 0)},
			[]clientv3.Op{clientv3.OpPut(key, value)},
			[]clientv3.Op{clientv3.OpGet(key)},
		))
	}
	return ops, items
}

// settle notes what became of one create.
func (s *Store) settle(item *storage.Item, request storage.Request, answer *etcdserverpb.TxnResponse) {
	item.Existing, item.Err = nil, nil
	if answer.Succeeded {
		return
	}
	kvs := answer.Responses[0].GetResponseRange().Kvs
	if len(kvs) == 0 { // the same transaction has seen it
		item.Err = fmt.Errorf("%w: id %d: taken by nothing", storage.ErrCorrupt, item.ID)
		return
	}
	s.compare(item, request, kvs[0].Value)
}

// compare notes whether the value that is there is that of this create.
func (s *Store) compare(item *storage.Item, request storage.Request, value []byte) {
	item.Existing, item.Err = nil, nil
	there, err := decode(s.keys.of(item.ID), value)
	switch {
	case err != nil:
		item.Err = err
	case there.request != request: // else an earlier attempt of ours has put it there
		item.Existing = &there.plant
	}
}

// judge says what the failure of a transaction means, but for want of space. What
// never left this machine, and what a member has refused before it proposed it to
// the others or when it was applied, has stored nothing.
func judge(err error, sent bool) error {
	var told rpctypes.EtcdError
	refused := errors.As(err, &told)
	switch {
	case refused && passing(told):
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	case refused && final(told.Code()):
		return fmt.Errorf("etcd: %w", err)
	case !sent:
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: %w", storage.ErrUnknown, err)
}

// passing reports whether a refusal goes away when it is tried again.
func passing(told rpctypes.EtcdError) bool {
	for _, err := range []error{
		rpctypes.ErrNoLeader, rpctypes.ErrTooManyRequests, rpctypes.ErrInvalidAuthToken, rpctypes.ErrAuthOldRevision,
		rpctypes.ErrUserEmpty,
	} {
		if errors.Is(told, err) {
			return true
		}
	}
	return false
}

// final reports whether a code is that of a refusal of what was asked for. Those
// with the code Unavailable are about time-outs, and leave it open.
func final(code codes.Code) bool {
	switch code {
	case codes.InvalidArgument, codes.FailedPrecondition, codes.PermissionDenied, codes.Unauthenticated, codes.ResourceExhausted:
		return true
	default:
		return false
	}
}

// silent reports whether a read failed for want of an answer, so that another
// member may give one.
func silent(err error) bool {
	var told rpctypes.EtcdError
	return !errors.As(err, &told) || told.Code() == codes.Unavailable || passing(told)
}

// A sentKey is the key of the *[atomic.Bool] in a context that tells whether its
// request was sent.
type sentKey struct{}

// A witness notes in that Bool when the first byte of a request may leave this
// machine.
type witness struct{}

// TagRPC implements [stats.Handler].
func (witness) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements [stats.Handler].
func (witness) HandleRPC(ctx context.Context, event stats.RPCStats) {
	if _, ok := event.(*stats.OutHeader); !ok {
		return
	}
	if sent, ok := ctx.Value(sentKey{}).(*atomic.Bool); ok {
		sent.Store(true)
	}
}

// TagConn implements [stats.Handler].
func (witness) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements [stats.Handler].
func (witness) HandleConn(context.Context, stats.ConnStats) {}
