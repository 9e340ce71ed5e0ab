package ratelimit_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/ratelimit"
)

func perSecond(n int) ratelimit.Rate { return ratelimit.Rate{Requests: n, Per: time.Second} }

// takes returns how many of n consecutive requests a client may send.
func takes(l *ratelimit.Limiter, client string, n int) (allowed int) {
	for range n {
		if l.Take(client) == 0 {
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
		l := ratelimit.BySubject(perSecond(10), 4)
		if got := takes(l, "a", 100); got != 4 {
			t.Errorf("%d at once, want 4", got)
		}
		for tenths := range 20 {
			time.Sleep(100 * time.Millisecond)
			if got := takes(l, "a", 100); got != 1 {
				t.Errorf("%d after %d tenths of a second, want 1", got, tenths+1)
			}
		}
		if got := takes(l, "b", 100); got != 4 {
			t.Errorf("%d of another client, want 4", got)
		}
		time.Sleep(time.Hour)
		if got := takes(l, "a", 100); got != 4 {
			t.Errorf("%d at once after an hour, want 4", got)
		}
		if got, want := l.Refused(), uint64(96+20*99+96+96); got != want {
			t.Errorf("refused %d, want %d", got, want)
		}
	})
}

// TestTakeReturnsWait checks that a client that waits as long as Take returned may send its
// request then, and not before.
func TestTakeReturnsWait(t *testing.T) {
	t.Parallel()
	for _, limit := range []ratelimit.Rate{perSecond(3), {Requests: 7, Per: time.Minute}, {Requests: 1, Per: time.Hour}, perSecond(1_000_000)} {
		synctest.Test(t, func(t *testing.T) {
			l := ratelimit.BySubject(limit, 1)
			l.Take("a")
			time.Sleep(limit.Per / time.Duration(limit.Requests) / 3)
			wait := l.Take("a")
			if interval := limit.Per / time.Duration(limit.Requests); wait <= interval/2 || wait > interval {
				t.Errorf("%v: wait %v, want two thirds of %v", limit, wait, interval)
			}
			time.Sleep(wait * 9 / 10)
			if l.Take("a") == 0 {
				t.Errorf("%v: allowed before", limit)
			}
			time.Sleep(wait/10 + time.Microsecond) // more than the rounding error of a float64
			if left := l.Take("a"); left != 0 {
				t.Errorf("%v: %v left after the wait of %v", limit, left, wait)
			}
		})
	}
}

// TestByAddress checks which addresses count as one client.
func TestByAddress(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1:1", "192.0.2.1:65535", true},
		{"192.0.2.1:1", "192.0.2.2:1", false},
		{"192.0.2.1:1", "[::ffff:192.0.2.1]:1", true},
		{"[2001:db8:1:2::1]:1", "[2001:db8:1:2:ffff:ffff:ffff:ffff]:2", true},
		{"[2001:db8:1:2::1]:1", "[2001:db8:1:3::1]:1", false},
		{"[::1]:1", "127.0.0.1:1", false},
		{"[fe80::1%eth0]:1", "[fe80::1%eth1]:1", true},
	} {
		l := ratelimit.ByAddress(ratelimit.Rate{Requests: 1, Per: time.Hour}, 1)
		if l.Take(test.a) != 0 {
			t.Errorf("%s: not allowed", test.a)
		}
		if same := l.Take(test.b) != 0; same != test.same {
			t.Errorf("%s and %s: the same client %t, want %t", test.a, test.b, same, test.same)
		}
	}
	for _, remote := range []string{"", "@", "/run/x.sock"} { // of Unix sockets
		if got := takes(ratelimit.ByAddress(perSecond(1), 1), remote, 9); got != 9 {
			t.Errorf("%q: %d of 9, want all", remote, got)
		}
	}
}

// TestMemoryIsBounded checks that the memory is bounded, for any number of clients and subjects
// of any length.
func TestMemoryIsBounded(t *testing.T) { //nolint:paralleltest // it measures the heap
	const most = 12 << 20
	long := strings.Repeat("x", 2000)
	for name, fill := range map[string]func() *ratelimit.Limiter{
		"addresses": func() *ratelimit.Limiter {
			l := ratelimit.ByAddress(perSecond(100), 100)
			for i := range 200_000 {
				l.Take(fmt.Sprintf("[2001:db8:%x:%x::1]:1", i>>16, i&0xffff))
			}
			return l
		},
		"subjects": func() *ratelimit.Limiter {
			l := ratelimit.BySubject(perSecond(100), 100)
			for i := range 100_000 {
				l.Take(fmt.Sprint(i, long))
			}
			return l
		},
	} {
		before := heap()
		l := fill()
		if used := heap() - before; used > most {
			t.Errorf("%s: %d bytes, want at most %d", name, used, most)
		} else {
			t.Logf("%s: %d bytes", name, used)
		}
		runtime.KeepAlive(l)
	}
}

// heap returns the bytes in use.
func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc) //nolint:gosec // far from 2^63
}

// TestOthersDoNotResetBucket checks that a client that has used up its limit does not get
// another burst by the requests of tens of thousands of addresses.
func TestOthersDoNotResetBucket(t *testing.T) {
	t.Parallel()
	l := ratelimit.ByAddress(ratelimit.Rate{Requests: 2, Per: time.Hour}, 2)
	const greedy = "192.0.2.1:1"
	if got := takes(l, greedy, 9); got != 2 {
		t.Fatalf("%d at once, want 2", got)
	}
	for i := range 32_000 {
		l.Take(fmt.Sprintf("[2001:db8:0:%x::1]:1", i))
	}
	if got := takes(l, greedy, 9); got != 0 {
		t.Errorf("%d more after the requests of others, want 0", got)
	}
	if l.Take("[2001:db8:0:0::2]:1") != 0 || l.Take("[2001:db8:0:0::2]:1") == 0 {
		t.Error("another client has not kept its bucket of one")
	}
}

// TestTakeAllocatesNothing checks that a request within the limit does not allocate.
func TestTakeAllocatesNothing(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the allocations of all goroutines
	l, subjects := ratelimit.ByAddress(perSecond(1_000_000), 1_000_000), ratelimit.BySubject(perSecond(1_000_000), 1_000_000)
	if n := testing.AllocsPerRun(1000, func() {
		l.Take("[2001:db8::1]:65535")
		l.Take("192.0.2.1:443")
		subjects.Take("somebody")
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func BenchmarkTake(b *testing.B) {
	l := ratelimit.ByAddress(perSecond(1_000_000), 1_000_000)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			l.Take("192.0.2.1:443")
		}
	})
}
