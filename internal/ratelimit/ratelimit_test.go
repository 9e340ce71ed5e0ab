package ratelimit_test

import (
	"context"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/ratelimit"
)

// TestParse checks which texts are a limit.
func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]ratelimit.Rate{
		"1/s":       {Requests: 1, Per: time.Second},
		"100/m":     {Requests: 100, Per: time.Minute},
		"1000000/h": {Requests: 1_000_000, Per: time.Hour},
	} {
		if got, err := ratelimit.Parse(text); err != nil || got != want || got.String() != text {
			t.Errorf("%s: %+v, printed %q, %v; want %+v", text, got, got, err, want)
		}
	}
	for _, text := range []string{"", "1", "/s", "0/s", "1/d", "1/S", " 1/s", "-1/s", "1.5/s", "1/s ", "1/s/s", "1000001/s", "4294967297/s"} {
		if got, err := ratelimit.Parse(text); err == nil {
			t.Errorf("%q: %+v, want an error", text, got)
		}
	}
	if text := (ratelimit.Rate{}).String(); text != "" {
		t.Errorf("no limit is %q, want an empty text", text)
	}
}

// takes returns how many of n consecutive requests a client may send.
func takes(l *ratelimit.Limiter, client string, n int) (allowed int) {
	for range n {
		if l.Take(context.Background(), client) == 0 {
			allowed++
		}
	}
	return allowed
}

// TestTake checks that a client may send a burst, and then requests at the rate, however many it
// tries. Other clients are not affected.
func TestTake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := ratelimit.New(ratelimit.Rate{Requests: 10, Per: time.Second})
		if got := takes(l, "a", 100); got != 10 {
			t.Errorf("%d at once, want 10", got)
		}
		for tenths := range 20 {
			time.Sleep(100 * time.Millisecond)
			if got := takes(l, "a", 100); got != 1 {
				t.Errorf("%d after %d tenths of a second, want 1", got, tenths+1)
			}
		}
		if got := takes(l, "b", 100); got != 10 {
			t.Errorf("%d of another client, want 10", got)
		}
		time.Sleep(time.Hour)
		if got := takes(l, "a", 100); got != 10 {
			t.Errorf("%d at once after an hour, want 10", got)
		}
	})
}

// TestTakeReturnsWait checks that a client that waits as long as Take returned may send its
// request then, and not before.
func TestTakeReturnsWait(t *testing.T) {
	t.Parallel()
	for _, limit := range []ratelimit.Rate{
		{Requests: 3, Per: time.Second}, {Requests: 7, Per: time.Minute}, {Requests: 1, Per: time.Hour}, {Requests: 100_000, Per: time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := ratelimit.New(limit)
			takes(l, "a", limit.Requests)
			interval := limit.Per / time.Duration(limit.Requests)
			time.Sleep(interval / 3)
			wait := l.Take(t.Context(), "a")
			if wait <= interval/2 || wait > interval {
				t.Errorf("%v: wait %v, want two thirds of %v", limit, wait, interval)
			}
			time.Sleep(wait * 9 / 10)
			if l.Take(t.Context(), "a") == 0 {
				t.Errorf("%v: allowed before", limit)
			}
			time.Sleep(wait/10 + time.Microsecond) // more than the rounding error of a float64
			if left := l.Take(t.Context(), "a"); left != 0 {
				t.Errorf("%v: %v left after the wait of %v", limit, left, wait)
			}
		})
	}
}

// TestMemoryIsBounded checks that the memory is bounded, for any number of subjects of any
// length.
func TestMemoryIsBounded(t *testing.T) { //nolint:paralleltest // it measures the heap
	const most = 12 << 20
	long := strings.Repeat("x", 2000)
	heap := func() int64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	l, before := ratelimit.New(ratelimit.Rate{Requests: 100, Per: time.Second}), heap()
	for i := range 200_000 {
		l.Take(t.Context(), strconv.Itoa(i)+long)
	}
	if used := heap() - before; used > most {
		t.Errorf("%d bytes, want at most %d", used, most)
	}
	runtime.KeepAlive(l)
}

// TestOthersDoNotResetBucket checks that a client that has used up its limit does not get
// another burst by the requests of tens of thousands of others.
func TestOthersDoNotResetBucket(t *testing.T) {
	t.Parallel()
	l := ratelimit.New(ratelimit.Rate{Requests: 2, Per: time.Hour})
	if got := takes(l, "greedy", 9); got != 2 {
		t.Fatalf("%d at once, want 2", got)
	}
	for round := range 3 {
		for i := range 32_000 {
			l.Take(t.Context(), strconv.Itoa(round*32_000+i))
		}
		if got := takes(l, "greedy", 9); got != 0 {
			t.Errorf("%d more after the requests of others, want 0", got)
		}
	}
}

// TestTakeAllocatesNothing checks that a request within the limit does not allocate.
func TestTakeAllocatesNothing(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the allocations of all goroutines
	l := ratelimit.New(ratelimit.Rate{Requests: 1_000_000, Per: time.Second})
	if n := testing.AllocsPerRun(1000, func() { l.Take(t.Context(), "somebody") }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
