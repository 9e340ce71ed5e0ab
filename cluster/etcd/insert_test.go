package etcd

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"plantstore/cluster/internal/retry"
	"plantstore/internal/must"
	"plantstore/internal/watchdog"
	"plantstore/models"
	"plantstore/storage"
)

func TestMain(m *testing.M) { watchdog.Main(m) }

// TestClassify checks that "Not stored" is reported only if it is certain (C5.28).
func TestClassify(t *testing.T) {
	t.Parallel()
	lost := status.Error(codes.Unavailable, "error reading from server: EOF")
	for name, test := range map[string]struct {
		err    error
		unsent bool
		want   error // nil: none of the store's own
	}{
		"no leader":         {err: rpctypes.Error(rpctypes.ErrGRPCNoLeader), want: storage.ErrUnavailable},
		"too many requests": {err: rpctypes.Error(rpctypes.ErrGRPCRequestTooManyRequests), want: storage.ErrUnavailable},
		"token expired":     {err: rpctypes.Error(rpctypes.ErrGRPCInvalidAuthToken), want: storage.ErrUnavailable},
		"rights changed":    {err: rpctypes.Error(rpctypes.ErrGRPCAuthOldRevision), want: storage.ErrUnavailable},
		"permission denied": {err: rpctypes.Error(rpctypes.ErrGRPCPermissionDenied)},
		"too large":         {err: rpctypes.Error(rpctypes.ErrGRPCRequestTooLarge)},
		"leader changed":    {err: rpctypes.Error(rpctypes.ErrGRPCLeaderChanged), want: storage.ErrUnknown},
		"timed out":         {err: rpctypes.Error(rpctypes.ErrGRPCTimeout), want: storage.ErrUnknown},
		"leader failed":     {err: rpctypes.Error(rpctypes.ErrGRPCTimeoutDueToLeaderFail), want: storage.ErrUnknown},
		"server stopped":    {err: rpctypes.Error(rpctypes.ErrGRPCStopped), want: storage.ErrUnknown},
		"corrupt":           {err: rpctypes.Error(rpctypes.ErrGRPCCorrupt), want: storage.ErrUnknown},
		"deadline":          {err: context.DeadlineExceeded, want: storage.ErrUnknown},
		"connection lost":   {err: lost, want: storage.ErrUnknown},
		"never connected":   {err: lost, unsent: true, want: storage.ErrUnavailable},
		"deadline, unsent":  {err: context.DeadlineExceeded, unsent: true, want: storage.ErrUnavailable},
	} {
		err := classify(test.err, !test.unsent)
		for _, known := range []error{storage.ErrUnavailable, storage.ErrNoSpace, storage.ErrUnknown} {
			if errors.Is(err, known) != (known == test.want) { //nolint:errorlint // the very value is meant
				t.Errorf("%s: %v, want: %v", name, err, test.want)
			}
		}
		if !errors.Is(err, test.err) {
			t.Errorf("%s: %v does not contain the cause", name, err)
		}
	}
}

// TestInsertIsSent checks that the outcome of an insert is unknown once it is sent to a member,
// which does not respond, and that nothing is stored if there is no member (C5.28).
func TestInsertIsSent(t *testing.T) {
	t.Parallel()
	listener := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	member := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		<-stream.Context().Done()
		return stream.Context().Err()
	}))
	var serving sync.WaitGroup
	serving.Go(func() { _ = member.Serve(listener) })
	insert := func() error {
		client := must.Get(newClient(target{endpoints: []string{listener.Addr().String()}, timeout: time.Second}))(t)
		defer func() { _ = client.Close() }()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		return (&Engine{client: client, keys: keys("/")}).insert(ctx, retry.Token{1}, make([]storage.Item, 1))
	}
	if err := insert(); !errors.Is(err, storage.ErrUnknown) {
		t.Errorf("without a response: %v, want: %v", err, storage.ErrUnknown)
	}
	member.Stop()
	serving.Wait()
	if err := insert(); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("without a member: %v, want: %v", err, storage.ErrUnavailable)
	}
}

// TestSetTaken checks that the outcome for a taken id depends on its value: with our own
// token, with another one, or unreadable.
func TestSetTaken(t *testing.T) {
	t.Parallel()
	e := &Engine{keys: keys("/")}
	ours, others := retry.Token{1}, retry.Token{2}
	plant := models.Plant{Name: "Monstera"}
	key := e.keys.of(1)
	for name, test := range map[string]struct {
		value    string // empty: none
		existing bool
		err      error
	}{
		"ours":            {record{ours, plant}.encode(key), false, nil},
		"another's":       {record{others, plant}.encode(key), true, nil},
		"another's alike": {record{plant: plant}.encode(key), true, nil},
		"corrupt":         {"x", false, storage.ErrCorrupt},
		"nothing":         {"", false, storage.ErrNoSpace},
	} {
		var kvs []*mvccpb.KeyValue
		if test.value != "" {
			kvs = append(kvs, &mvccpb.KeyValue{Value: []byte(test.value)})
		}
		item := storage.Item{Record: storage.Record{ID: 1, Plant: plant}}
		e.setTaken(&item, ours, kvs, storage.ErrNoSpace)
		if (item.Existing != nil) != test.existing || !errors.Is(item.Err, test.err) {
			t.Errorf("%s: existing %v, error %v", name, item.Existing, item.Err)
		}
	}
}

// TestOperationsLeaveOutWhatIsTooLarge checks that a plant that every server refuses does not
// prevent others from being stored.
func TestOperationsLeaveOutWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	e := &Engine{keys: keys("/")}
	batch := make([]storage.Item, 3)
	batch[1].Plant.Name = strings.Repeat("x", maxValue)
	ops, items := e.operations(retry.Token{1}, batch)
	if len(ops) != 2 || len(items) != 2 || items[0] != &batch[0] || items[1] != &batch[2] {
		t.Errorf("%d operations for %d items, want 2 for the first and the third", len(ops), len(items))
	}
	if err := batch[1].Err; err == nil || errors.Is(err, storage.ErrUnknown) || batch[0].Err != nil {
		t.Errorf("the outcomes are %v, %v", batch[0].Err, err)
	}
	if err := e.insert(t.Context(), retry.Token{1}, batch[1:2]); err != nil {
		t.Errorf("insert of it alone: %v", err)
	}
}
