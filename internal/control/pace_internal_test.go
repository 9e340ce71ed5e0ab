package control

import (
	"context"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/models"
	"plantstore/storage"
)

// A slowStore takes a while for each plant that it lists.
type slowStore struct {
	storage.Store

	counted *Counted // whose creates go on meanwhile, if it is not nil
	work    time.Duration
}

const slowPlants = 5 * paceRecords

func (slowStore) Create(context.Context, int64, models.Plant) error { return nil }

func (s slowStore) List(ctx context.Context, _ int64) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		for id := range int64(slowPlants) {
			time.Sleep(s.work)
			if s.counted != nil {
				_ = s.counted.Create(ctx, id, models.Plant{}) // it cannot fail
			}
			if !yield(storage.Record{ID: id}, nil) {
				return
			}
		}
	}
}

// A list takes a tenth of the time while plants are created, all of it while none
// are, and no pause is longer than the bound.
func TestListGivesWay(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		work    time.Duration // for a plant
		creates bool
		want    time.Duration
	}{
		"no creates":  {10 * time.Microsecond, false, slowPlants * 10 * time.Microsecond},
		"creates":     {10 * time.Microsecond, true, slowPlants * 100 * time.Microsecond},
		"long pauses": {time.Millisecond, true, slowPlants*time.Millisecond + slowPlants/paceRecords*longestPause},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				counted := new(Counted)
				store := slowStore{work: row.work}
				if row.creates {
					store.counted = counted
				}
				counted.Store = store
				begin := time.Now()
				(&Server{store: counted}).handler().ServeHTTP(httptest.NewRecorder(),
					httptest.NewRequestWithContext(t.Context(), http.MethodGet, pathPlants+"?from=0", nil))
				if took := time.Since(begin); took != row.want {
					t.Errorf("the list took %v, want %v", took, row.want)
				}
			})
		})
	}
}

// A pause ends with its list.
func TestPauseEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		counted := &Counted{Store: slowStore{}}
		p := newPacer(counted)
		time.Sleep(time.Second)
		_ = counted.Create(t.Context(), 1, models.Plant{}) // it cannot fail
		ctx, cancel := context.WithTimeout(t.Context(), longestPause/2)
		defer cancel()
		begin := time.Now()
		if p.pause(ctx); time.Since(begin) != longestPause/2 {
			t.Errorf("the pause took %v, want %v", time.Since(begin), longestPause/2)
		}
	})
}

// An endlessSnapshotter writes until it cannot, and says when that was.
type endlessSnapshotter struct {
	storage.Store

	failed chan time.Time
}

func (s endlessSnapshotter) Snapshot(_ context.Context, w io.Writer) error {
	for {
		if _, err := w.Write(make([]byte, bufferSize)); err != nil {
			s.failed <- time.Now()
			return err
		}
	}
}

// A pipeListener accepts one connection, which is a pipe.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error { l.once.Do(func() { close(l.closed) }); return nil }

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Net: "unix"} }

// A client that takes nothing of a copy is cut off in time, and one that takes some
// is not.
func TestStalledClientIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		listener := &pipeListener{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
		near, far := net.Pipe()
		listener.conns <- far
		failed := make(chan time.Time, 1)
		server := Start(listener, &Counted{Store: endlessSnapshotter{failed: failed}}, 1<<20, slog.New(slog.DiscardHandler))
		if _, err := io.WriteString(near, "GET "+pathSnapshot+" HTTP/1.1\r\nHost: plantstore\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		for range 10 { // each longer than the server's buffers
			if _, err := io.ReadFull(near, make([]byte, 4*bufferSize)); err != nil {
				t.Fatalf("a client that takes a little is cut off: %v", err)
			}
			time.Sleep(stallTime * 2 / 3)
		}
		select {
		case at := <-failed:
			t.Errorf("a client that takes a little is cut off at %v", at)
		default:
		}
		stalled := time.Now()
		time.Sleep(2 * stallTime)
		select {
		case at := <-failed:
			if took := at.Sub(stalled); took > stallTime {
				t.Errorf("it was cut off after %v, want at most %v", took, stallTime)
			}
		default:
			t.Error("a client that takes nothing is not cut off")
		}
		_ = near.Close()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
}
