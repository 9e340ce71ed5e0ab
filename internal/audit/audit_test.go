package audit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/audit"
	"plantstore/models"
	"plantstore/storage"
)

// silent is a logger that discards all records.
func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

// openLogged returns a store that records its creates in target, and the output of its
// logger.
func openLogged(t *testing.T, target func() (audit.Target, error), fake *fakeEngine) (*storage.Store, *audit.Log, *strings.Builder) {
	t.Helper()
	output := new(strings.Builder)
	log, err := audit.Open(target, slog.New(slog.NewTextHandler(output, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return newStore(fake, log), log, output
}

// on returns a function that opens a disk.
func on(d *disk) func() (audit.Target, error) {
	return func() (audit.Target, error) { return d, nil }
}

// open returns a store that records its creates on a disk. The test closes it at its end.
func open(t *testing.T, d *disk, fake *fakeEngine) *storage.Store {
	t.Helper()
	store, _, _ := openLogged(t, on(d), fake)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// A note is a line of the log.
type note struct {
	Time      time.Time
	Event     string
	ID        int64
	By        string
	Subject   *string
	RequestID *string `json:"request_id"`
	Remote    *string
}

// notes parses all lines of a log.
func notes(t *testing.T, text string) []note {
	t.Helper()
	var all []note
	for line := range strings.Lines(text) {
		var n note
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&n); err != nil || !strings.HasSuffix(line, "\n") || n.Time.IsZero() {
			t.Fatalf("line %q: %v", line, err)
		}
		all = append(all, n)
	}
	return all
}

func byActor(t *testing.T, actor storage.Actor) context.Context {
	t.Helper()
	return storage.WithActor(t.Context(), actor)
}

// TestNotes checks that a create is recorded before Create returns, unless it is refused.
func TestNotes(t *testing.T) {
	t.Parallel()
	d := newDisk()
	fake := &fakeEngine{outcomes: map[int64]error{
		2: &storage.ExistsError{}, 3: fmt.Errorf("%w: the disk", storage.ErrUnknown), 5: storage.ErrNoSpace,
	}}
	store := open(t, d, fake)
	before := time.Now().Truncate(time.Microsecond)
	subject, request, remote := "alice \"<\n\u2028\x00", "req-1", "192.0.2.1:7"
	ctx := byActor(t, storage.Actor{Subject: subject, RequestID: request, Remote: remote})
	for id := range int64(4) {
		if err := store.Create(ctx, id, models.Plant{}); !errors.Is(err, fake.outcomes[id]) {
			t.Errorf("Create %d: %v", id, err)
		}
		if want := strings.Count(d.String(), "\n"); id == 0 && want != 1 {
			t.Errorf("%d lines after the first create", want)
		}
	}
	outcomes := store.CreateAll(t.Context(), []storage.Record{{ID: 4}, {ID: 5}, {ID: -6}})
	if !slices.Equal(outcomes, []error{nil, storage.ErrNoSpace, nil}) {
		t.Errorf("CreateAll: %v", outcomes)
	}
	got := notes(t, d.String())
	for i, n := range got {
		if n.Time.Before(before) || n.Time.After(time.Now()) {
			t.Errorf("line %d is of %v", i, n.Time)
		}
		got[i].Time = time.Time{}
	}
	want := []note{
		{Event: "created", ID: 0, By: "token", Subject: &subject, RequestID: &request, Remote: &remote},
		{Event: "created", ID: 1, By: "token", Subject: &subject, RequestID: &request, Remote: &remote},
		{Event: "unknown", ID: 3, By: "token", Subject: &subject, RequestID: &request, Remote: &remote},
		{Event: "created", ID: 4, By: "operator"},
		{Event: "created", ID: -6, By: "operator"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// TestFullDisk checks that while the log cannot be written, creates are refused. Earlier
// creates are recorded as soon as the log can be written, each exactly once.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct{ is, refusal error }{
		"full":  {&os.PathError{Err: syscall.ENOSPC}, storage.ErrNoSpace},
		"other": {errors.New("broken"), storage.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d, fake := newDisk(), &fakeEngine{}
				d.fault = fault.is
				store := open(t, d, fake)
				d.set(10, nil) // a part of a line
				if err := store.Create(t.Context(), 1, models.Plant{}); !errors.Is(err, storage.ErrUnrecorded) {
					t.Errorf("the create that cannot be noted: %v", err)
				}
				for range 2 {
					if err := store.Create(t.Context(), 2, models.Plant{}); !errors.Is(err, fault.refusal) {
						t.Errorf("a later create: %v, want %v", err, fault.refusal)
					}
					if err := store.CreateAll(t.Context(), make([]storage.Record, 2))[1]; !errors.Is(err, fault.refusal) {
						t.Errorf("a later bulk: %v, want %v", err, fault.refusal)
					}
					if err := store.Ready(); !errors.Is(err, fault.refusal) {
						t.Errorf("Ready: %v, want %v", err, fault.refusal)
					}
					time.Sleep(time.Minute)
				}
				d.set(20, nil) // a little more
				time.Sleep(time.Minute)
				d.set(-1, nil)
				time.Sleep(time.Minute)
				if err := store.Create(t.Context(), 3, models.Plant{}); err != nil || store.Ready() != nil {
					t.Errorf("when there is space again: %v, %v", err, store.Ready())
				}
				if got := ids(notes(t, d.String())); !slices.Equal(got, []int64{1, 3}) || !slices.Equal(fake.stored, got) {
					t.Errorf("noted are %v, stored %v", got, fake.stored)
				}
			})
		})
	}
}

func ids(notes []note) (all []int64) {
	for _, n := range notes {
		all = append(all, n.ID)
	}
	return all
}

// TestClosedWhileFull checks that lines that cannot be written before Close are logged.
func TestClosedWhileFull(t *testing.T) {
	t.Parallel()
	d, fake := newDisk(), &fakeEngine{}
	d.space, d.fault = 10, syscall.ENOSPC
	store, _, output := openLogged(t, on(d), fake)
	_ = store.Create(t.Context(), 4711, models.Plant{})
	for range 2 {
		if err := store.Close(); !errors.Is(err, storage.ErrNoSpace) || !fake.closed || !d.closed {
			t.Errorf("Close: %v, closed: %t, %t", err, fake.closed, d.closed)
		}
	}
	for _, want := range []string{"level=ERROR", "cannot be written", "no space left", "hint=\"fix the cause", "4711"} {
		if !strings.Contains(output.String(), want) {
			t.Errorf("the log lacks %q: %s", want, output)
		}
	}
	if err := store.Create(t.Context(), 1, models.Plant{}); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("a create after the end: %v", err)
	}
}

// TestLogsUnlocked checks that the log is written without a lock that creates need.
func TestLogsUnlocked(t *testing.T) {
	t.Parallel()
	d := newDisk()
	d.space, d.fault = 0, syscall.ENOSPC
	calling := &callingHandler{Handler: slog.DiscardHandler, responded: make(chan error, 1)}
	log, err := audit.Open(func() (audit.Target, error) { return d, nil }, slog.New(calling))
	if err != nil {
		t.Fatal(err)
	}
	store := newStore(&fakeEngine{}, log)
	calling.call = store.Ready
	if err := store.Create(t.Context(), 1, models.Plant{}); !errors.Is(err, storage.ErrUnrecorded) {
		t.Errorf("Create: %v", err)
	}
	if err := <-calling.responded; !errors.Is(err, storage.ErrNoSpace) {
		t.Errorf("while the failure is being logged Ready returns: %v", err)
	}
	_ = store.Close() // it logs that the disk is full
}

// An callingHandler calls a function in another goroutine while it handles its first
// record.
type callingHandler struct {
	slog.Handler

	call      func() error
	responded chan error // gets the result, or an error after a timeout
	once      sync.Once
}

// Enabled implements [slog.Handler].
func (*callingHandler) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements [slog.Handler].
func (h *callingHandler) Handle(context.Context, slog.Record) error {
	h.once.Do(func() {
		response := make(chan error, 1)
		go func() { response <- h.call() }()
		select {
		case err := <-response:
			h.responded <- err
		case <-time.After(10 * time.Second):
			h.responded <- errors.New("no result")
		}
	})
	return nil
}

// TestStuck checks that a stalled target blocks no create beyond its deadline, or five seconds,
// and that creates are refused then.
func TestStuck(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		deadline, wantAfter time.Duration
		want                error
	}{
		{time.Second, time.Second, storage.ErrUnknown},
		{time.Minute, 5 * time.Second, storage.ErrUnrecorded},
	} {
		t.Run(tt.deadline.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d, fake := newDisk(), &fakeEngine{}
				d.held = make(chan struct{})
				store, log, output := openLogged(t, on(d), fake)
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), tt.deadline)
				defer cancel()
				if err := store.Create(ctx, 1, models.Plant{}); !errors.Is(err, tt.want) || time.Since(began) != tt.wantAfter {
					t.Errorf("the create that is not noted: %v after %v, want %v after %v", err, time.Since(began), tt.want, tt.wantAfter)
				}
				time.Sleep(10 * time.Second)
				began = time.Now()
				if err := store.Create(t.Context(), 2, models.Plant{}); !errors.Is(err, storage.ErrUnavailable) || time.Since(began) != 0 {
					t.Errorf("a later create: %v after %v", err, time.Since(began))
				}
				if err := log.Reopen(t.Context()); err == nil {
					t.Error("it was opened again")
				}
				if err := store.Close(); err == nil {
					t.Error("Close returns nil")
				}
				close(d.held)
				synctest.Wait()
				if got := ids(notes(t, d.String())); !slices.Equal(got, []int64{1}) {
					t.Errorf("noted in the end: %v", got)
				}
				for _, want := range []string{"creates stopped", "a write has stalled", "creates resumed"} {
					if strings.Count(output.String(), want) != 1 {
						t.Errorf("the log is %s, want %q once", output, want)
					}
				}
			})
		})
	}
}

// TestSync checks that lines are synced within a second. After a failed sync creates are
// refused, and the log names the lines that may be lost, since the next sync may succeed
// without them.
func TestSync(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		store, _, output := openLogged(t, on(d), &fakeEngine{})
		if err := store.Create(t.Context(), 1, models.Plant{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1500 * time.Millisecond)
		if d.synced != len(d.String()) {
			t.Errorf("%d bytes are synced of %d", d.synced, len(d.String()))
		}
		d.set(-1, errors.New("broken"))
		if err := store.Create(t.Context(), 2, models.Plant{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if err := store.Create(t.Context(), 3, models.Plant{}); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("after a sync that failed: %v", err)
		}
		d.set(-1, nil)
		time.Sleep(2 * time.Second)
		if err := errors.Join(store.Create(t.Context(), 3, models.Plant{}), store.Close()); err != nil {
			t.Errorf("after a successful sync: %v", err)
		}
		if want := "since=2000-01-01T00:00:01.000Z cause=broken"; strings.Count(output.String(), want) != 1 { // a bubble begins in 2000
			t.Errorf("the log is %s, want %q once", output, want)
		}
	})
}

// TestSyncFailsAfterWrite checks that lines that may be lost are logged, too, if a write has
// failed before the sync.
func TestSyncFailsAfterWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		store, _, output := openLogged(t, on(d), &fakeEngine{})
		if err := store.Create(t.Context(), 1, models.Plant{}); err != nil {
			t.Fatal(err)
		}
		d.fault = syscall.EIO
		d.set(0, errors.New("broken"))
		if err := store.Create(t.Context(), 2, models.Plant{}); !errors.Is(err, storage.ErrUnrecorded) {
			t.Errorf("a write that fails: %v", err)
		}
		time.Sleep(3 * time.Second)
		d.set(-1, nil)
		time.Sleep(2 * time.Second)
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		if strings.Count(output.String(), "audit log sync failed: lines may be lost") != 1 {
			t.Errorf("the log is %s", output)
		}
	})
}

// TestReset checks that a reset is recorded, after all creates before it.
func TestReset(t *testing.T) {
	t.Parallel()
	d := newDisk()
	d.fault = errors.New("broken")
	store := open(t, d, &fakeEngine{})
	var running sync.WaitGroup
	for id := range int64(50) {
		running.Go(func() {
			if err := store.Create(t.Context(), id, models.Plant{}); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	if err := store.Reset(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	all := notes(t, d.String())
	last := all[len(all)-1]
	if len(all) != 51 || last.Event != "reset" || last.By != "operator" || strings.Count(d.String(), `"id":`) != 50 {
		t.Errorf("the lines are\n%s", d.String())
	}
	d.set(0, nil)
	if err := store.Reset(t.Context(), nil); !errors.Is(err, storage.ErrUnrecorded) || strings.Contains(err.Error(), "the plant") {
		t.Errorf("Reset: %v", err)
	}
	if err := store.Reset(t.Context(), nil); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("Reset while the log cannot be written: %v", err)
	}
	d.set(-1, nil)
}
