// Package storagetest is the test suite for engines. It tests the guarantees of
// [storage.Store].
package storagetest

import (
	"context"
	"errors"
	"iter"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"plantstore/models"
	"plantstore/storage"
)

// A Store is the store under test: a [storage.Store], or a client of one.
type Store interface {
	Create(ctx context.Context, id int64, plant models.Plant) error
	CreateAll(ctx context.Context, records []storage.Record) []error
	DryRun(ctx context.Context, records []storage.Record) []error
	Get(ctx context.Context, id int64) (models.Plant, error)
	List(ctx context.Context, from int64) iter.Seq2[storage.Record, error]
	ListDescending(ctx context.Context, from int64) iter.Seq2[storage.Record, error]
	Count(ctx context.Context) (int64, error)
	Ready() error
	Close() error
}

// An Open opens a store at a fixed location, which keeps its plants between Close and the
// next Open.
type Open func() (Store, error)

// A Fresh creates a new, empty location, which is removed after the test.
type Fresh func(t testing.TB) Open

// Run runs the suite. The caller must not be a parallel test, since the check for leaked
// goroutines requires that no other test runs. The tests of the suite are parallel.
func Run(t *testing.T, fresh Fresh) {
	t.Run("LeaksNoGoroutines", func(t *testing.T) { testLeaksNoGoroutines(t, fresh) })
	for name, test := range map[string]func(*testing.T, Open){
		"CreateKeepsPlant":          testCreateKeepsPlant,
		"CreateOnlyOnce":            testCreateOnlyOnce,
		"CreateRacing":              testCreateRacing,
		"CreateContextEnded":        testCreateContextEnded,
		"CreateContextEndsUnderWay": testCreateContextEndsUnderWay,
		"CreateAll":                 testCreateAll,
		"CreateAllKeepsPlants":      testCreateAllKeepsPlants,
		"CreateAllOutcomes":         testCreateAllOutcomes,
		"CreateAllRacing":           testCreateAllRacing,
		"CreateAllContextEnds":      testCreateAllContextEnds,
		"DryRun":                    testDryRun,
		"InvalidUTF8":               testInvalidUTF8,
		"Count":                     testCount,
		"GetNotFound":               testGetNotFound,
		"GetContextEnded":           testGetContextEnded,
		"ListOrder":                 testListOrder,
		"ListFrom":                  testListFrom,
		"ListDescending":            testListDescending,
		"ListManyAndBreak":          testListManyAndBreak,
		"ListContextEnds":           testListContextEnds,
		"ListDoesNotBlockCreate":    testListDoesNotBlockCreate,
		"Reopen":                    testReopen,
		"Closed":                    testClosed,
		"Stats":                     testStats,
		"CloseWhileWriting":         testCloseWhileWriting,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fresh(t))
		})
	}
	t.Run("RandomOperations", func(t *testing.T) {
		t.Parallel()
		testRandomOperations(t, fresh)
	})
}

// mustOpen opens the store and closes it when the test ends.
func mustOpen(t testing.TB, open Open) Store {
	t.Helper()
	s, err := open()
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// mustClose closes the store, so that it can be opened again.
func mustClose(t testing.TB, s Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

// mustCreate creates all the records at once.
func mustCreate(t testing.TB, s Store, records ...storage.Record) {
	t.Helper()
	var wg sync.WaitGroup
	for _, r := range records {
		wg.Go(func() {
			if err := s.Create(t.Context(), r.ID, r.Plant); err != nil {
				t.Errorf("Create(%d): %v", r.ID, err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// mustGet checks that want is stored under id.
func mustGet(t testing.TB, s Store, id int64, want models.Plant) {
	t.Helper()
	got, err := s.Get(t.Context(), id)
	if err != nil {
		t.Fatalf("Get(%d): %v", id, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Get(%d) (-want +got):\n%s", id, diff)
	}
}

// mustList returns all records of List from id from on.
func mustList(t testing.TB, s Store, from int64) []storage.Record {
	t.Helper()
	return mustCollect(t, s.List(t.Context(), from))
}

// mustCollect returns the records of a list.
func mustCollect(t testing.TB, list iter.Seq2[storage.Record, error]) (records []storage.Record) {
	t.Helper()
	for r, err := range list {
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		records = append(records, r)
	}
	return records
}

// wantError checks that err matches want.
func wantError(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s = %v, want: %v", what, err, want)
	}
}

// wantExists checks that err is an ExistsError with the given Identical.
func wantExists(t testing.TB, what string, err error, identical bool) {
	t.Helper()
	exists, ok := errors.AsType[*storage.ExistsError](err)
	if !ok {
		t.Errorf("%s = %v, want an ExistsError", what, err)
	} else if exists.Identical != identical {
		t.Errorf("%s: Identical = %v, want %v", what, exists.Identical, identical)
	}
}

func testLeaksNoGoroutines(t *testing.T, fresh Fresh) {
	open, before := fresh(t), goleak.IgnoreCurrent()
	s := mustOpen(t, open)
	mustCreate(t, s, storage.Record{ID: 1, Plant: models.Plant{Name: "a"}})
	for _, err := range s.List(t.Context(), 0) {
		if err != nil {
			t.Errorf("List: %v", err)
		}
		break
	}
	mustClose(t, s)
	goleak.VerifyNone(t, before)
}
