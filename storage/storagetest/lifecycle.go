package storagetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/models"
	"plantstore/storage"
)

func testReopen(t *testing.T, open Open) {
	records := edges()
	for i, r := range records {
		s := mustOpen(t, open)
		if err := s.Ready(); err != nil {
			t.Errorf("Ready: %v", err)
		}
		mustCreate(t, s, r)
		wantExists(t, "Create of the first plant again", s.Create(t.Context(), records[0].ID, records[0].Plant), true)
		if diff := cmp.Diff(records[:i+1], mustList(t, s, math.MinInt64)); diff != "" {
			t.Errorf("List (-want +got):\n%s", diff)
		}
		mustClose(t, s)
	}
}

func testClosed(t *testing.T, open Open) {
	s := mustOpen(t, open)
	mustCreate(t, s, storage.Record{ID: 1, Plant: models.Plant{Name: "a"}})
	mustClose(t, s)
	mustClose(t, s)
	wantError(t, "Ready", s.Ready(), storage.ErrUnavailable)
	wantError(t, "Create", s.Create(t.Context(), 2, models.Plant{Name: "b"}), storage.ErrUnavailable)
	for _, err := range s.CreateAll(t.Context(), many(3)) {
		wantError(t, "CreateAll", err, storage.ErrUnavailable)
	}
	_, err := s.Get(t.Context(), 1)
	wantError(t, "Get", err, storage.ErrUnavailable)
	for _, err := range s.List(t.Context(), 0) {
		wantError(t, "List", err, storage.ErrUnavailable)
	}
}

// testCloseWhileWriting closes the store several times at once during creates, and checks that
// every outcome was correct.
func testCloseWhileWriting(t *testing.T, open Open) {
	const writers = 32
	s := mustOpen(t, open)
	outcomes := make([][]error, writers)
	underWay := make(chan struct{}, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := 0; ; i++ {
				err := s.Create(t.Context(), int64(i*writers+w), models.Plant{Name: fmt.Sprint(w)})
				outcomes[w] = append(outcomes[w], err)
				if i == 2 {
					underWay <- struct{}{}
				}
				if errors.Is(err, storage.ErrUnavailable) {
					return
				}
			}
		})
	}
	<-underWay
	for range 3 {
		wg.Go(func() { mustCloseAnywhere(t, s) })
	}
	wg.Wait()
	s = mustOpen(t, open)
	for w, errs := range outcomes {
		for i, err := range errs {
			checkOutcome(t, s, int64(i*writers+w), models.Plant{Name: fmt.Sprint(w)}, err)
		}
	}
}

// mustCloseAnywhere is mustClose for goroutines other than the test's.
func mustCloseAnywhere(t testing.TB, s Store) {
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// testStats checks that a store counts requests correctly.
func testStats(t *testing.T, open Open) {
	s := mustOpen(t, open)
	store, ok := s.(*storage.Store)
	if !ok {
		return // the store under test is a client
	}
	if n := store.Stats(); n.Created != 0 || n.QueueLimit <= 0 {
		t.Errorf("at first: %+v", n)
	}
	records := many(300)
	mustCreate(t, s, records[:100]...)
	for _, err := range s.CreateAll(t.Context(), records[50:]) { // some of the plants exist already
		if err != nil {
			wantExists(t, "CreateAll", err, true)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	wantError(t, "Create", s.Create(ended, 1<<40, models.Plant{}), storage.ErrOverloaded)

	n := store.Stats()
	if n.Created != 300 || n.FailedCommits != 0 || n.QueuedCreates != 0 || n.QueuedBytes != 0 {
		t.Errorf("after 300 plants: %+v", n)
	}
	if file := n.File; file != nil && (file.Plants != 300 || file.Size <= 0 || file.Free <= 0) {
		t.Errorf("of the file: %+v", file)
	}
	mustClose(t, s)
	s = mustOpen(t, open)
	store, _ = s.(*storage.Store)
	if got := store.Stats(); got.Created != 0 || got.File != nil && got.File.Plants != 300 {
		t.Errorf("opened again: %+v, %+v", got, got.File)
	}
}
