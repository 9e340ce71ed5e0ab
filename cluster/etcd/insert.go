package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"

	"plantstore/cluster/internal/retry"
	"plantstore/storage"
)

// insert is a [retry.InsertFunc]. It commits one transaction with a nested transaction
// for each plant, which puts the plant if its key does not exist, or else gets the
// existing record.
func (e *Engine) insert(ctx context.Context, token retry.Token, batch []storage.Item) error {
	if len(batch) == 0 {
		return e.tryToWrite(ctx)
	}
	ops, items := e.operations(token, batch)
	if len(ops) == 0 {
		return nil
	}
	client, err := e.connected()
	if err != nil {
		return classify(err, false)
	}
	sent := false
	ctx = context.WithValue(clientv3.WithRequireLeader(ctx), sentKey{}, &sent)
	response, err := client.Txn(ctx).Then(ops...).Commit()
	if errors.Is(err, rpctypes.ErrNoSpace) {
		return e.afterNoSpace(ctx, client, token, items, err)
	}
	if err != nil {
		return classify(err, sent)
	}
	if len(response.Responses) != len(ops) {
		return fmt.Errorf("%w: etcd returned %d of %d outcomes", storage.ErrUnknown, len(response.Responses), len(ops))
	}
	for i, item := range items {
		if txn := response.Responses[i].GetResponseTxn(); !txn.Succeeded {
			e.setTaken(item, token, txn.Responses[0].GetResponseRange().Kvs, storage.ErrCorrupt) // the key exists
		}
	}
	return nil
}

// afterNoSpace reads the outcome of a transaction that failed with NoSpace. etcd returns
// NoSpace also for the transaction that exhausted the quota, although it was applied.
func (e *Engine) afterNoSpace(ctx context.Context, client *clientv3.Client, token retry.Token, items []*storage.Item, cause error) error {
	var gets []clientv3.Op
	for _, item := range items {
		gets = append(gets, clientv3.OpGet(e.keys.of(item.ID)))
	}
	response, err := client.Txn(ctx).Then(gets...).Commit()
	if err != nil || len(response.Responses) != len(gets) {
		return fmt.Errorf("%w: %w", storage.ErrUnknown, cause)
	}
	missing := fmt.Errorf("%w: %w", storage.ErrNoSpace, cause)
	for i, item := range items {
		e.setTaken(item, token, response.Responses[i].GetResponseRange().Kvs, missing)
	}
	return nil
}

// operations returns the operations that create the plants of a batch, and their items.
// A plant that exceeds maxValue gets an error instead.
func (e *Engine) operations(token retry.Token, batch []storage.Item) (ops []clientv3.Op, items []*storage.Item) {
	for i := range batch {
		item := &batch[i]
		key := e.keys.of(item.ID)
		value := record{token, item.Plant}.encode(key)
		if len(value) > maxValue {
			item.Err = fmt.Errorf("a plant of %d bytes exceeds the limit of etcd, %d", len(value), maxValue)
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

// setTaken sets the outcome of a create whose key has been read. If the key does not exist,
// kvs is empty, and the outcome is the error passed as missing.
func (e *Engine) setTaken(item *storage.Item, token retry.Token, kvs []*mvccpb.KeyValue, missing error) {
	if len(kvs) == 0 {
		item.Err = missing
		return
	}
	stored, err := decode(e.keys.of(item.ID), kvs[0].Value)
	switch {
	case err != nil:
		item.Err = &storage.CorruptError{ID: item.ID, Err: err}
	case stored.token != token:
		item.Existing = &stored.plant
	}
}

// classify wraps the error of a transaction, other than NoSpace, in a storage error.
// No plant was stored if the request was not sent, or if etcd rejected it before proposing
// or when applying it.
func classify(err error, sent bool) error {
	rejection, rejected := errors.AsType[rpctypes.EtcdError](err)
	switch {
	case rejected && transient(rejection):
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	case rejected && permanent(rejection.Code()):
		return fmt.Errorf("etcd: %w", err)
	case !sent:
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: %w", storage.ErrUnknown, err)
}

// transient reports whether a rejected transaction may succeed if it is retried.
func transient(rejection rpctypes.EtcdError) bool {
	return slices.Contains([]error{
		rpctypes.ErrNoLeader, rpctypes.ErrTooManyRequests, rpctypes.ErrInvalidAuthToken, rpctypes.ErrAuthOldRevision,
		rpctypes.ErrUserEmpty,
	}, error(rejection))
}

// permanent reports whether a code means that a retry would fail as well. Unavailable is
// not permanent: it is the code of timeouts, whose outcome is unknown.
func permanent(code codes.Code) bool {
	return slices.Contains([]codes.Code{
		codes.InvalidArgument, codes.FailedPrecondition, codes.PermissionDenied, codes.Unauthenticated, codes.ResourceExhausted,
	}, code)
}

// retriable reports whether a failed read may succeed on another member.
func retriable(err error) bool {
	rejection, rejected := errors.AsType[rpctypes.EtcdError](err)
	return !rejected || rejection.Code() == codes.Unavailable || transient(rejection)
}
