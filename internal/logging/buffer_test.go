package logging_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/logging"
	"plantstore/internal/must"
)

// The writes to a writer. They fail while failing is set.
type writes struct {
	failing bool

	mu  sync.Mutex
	all []string
}

func (w *writes) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failing {
		return 0, errors.New("no space left")
	}
	w.all = append(w.all, string(p))
	return len(p), nil
}

// done returns the writes that have succeeded.
func (w *writes) done() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all
}

// TestOrder checks that no line of concurrent writers is lost or torn over two writes, and that
// the lines of each writer stay in order.
func TestOrder(t *testing.T) {
	t.Parallel()
	const writers, lines = 8, 5000
	var out writes
	b := logging.NewBuffer(&out)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := range lines {
				if _, err := fmt.Fprintf(b, "%d %d\n", w, n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	b.Flush()
	next := [writers]int{}
	for _, write := range out.done() {
		for line := range strings.Lines(write) {
			var w, n int
			if _, err := fmt.Sscanf(line, "%d %d\n", &w, &n); err != nil || n != next[w] {
				t.Fatalf("line %q, want number %d: %v", line, next[w], err)
			}
			next[w]++
		}
	}
	for w, n := range next {
		if n != lines {
			t.Errorf("%d lines of writer %d, want %d", n, w, lines)
		}
	}
}

// TestInterval checks that the lines of an interval are one write at its end.
func TestInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out writes
		b := logging.NewBuffer(&out)
		for range 3 {
			time.Sleep(time.Hour)
			must.Get(io.WriteString(b, "a"))(t)
			must.Get(io.WriteString(b, "b"))(t)
		}
		synctest.Wait()
		if all := out.done(); len(all) != 2 {
			t.Errorf("%q before the interval ends", all)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if all := out.done(); len(all) != 3 || all[2] != "ab" {
			t.Errorf("the writes are %q, want ab three times", all)
		}
	})
}

// TestLongLine checks that a line may exceed the buffer.
func TestLongLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	b := logging.NewBuffer(&out)
	long := strings.Repeat("x", 1<<20)
	for _, line := range []string{"a", long, "b"} {
		must.Get(io.WriteString(b, line))(t)
	}
	if b.Flush(); out.String() != "a"+long+"b" {
		t.Errorf("%d bytes were written", out.Len())
	}
}

// TestFailingWriter checks that a failure loses the lines before it only, and is no error of the
// log.
func TestFailingWriter(t *testing.T) {
	t.Parallel()
	out := writes{failing: true}
	b := logging.NewBuffer(&out)
	for _, line := range []string{"lost", "lost", strings.Repeat("x", 1<<20)} {
		must.Get(io.WriteString(b, line))(t)
		b.Flush()
	}
	out.failing = false
	_, _ = io.WriteString(b, "written")
	b.Flush()
	if all := out.done(); len(all) != 1 || all[0] != "written" {
		t.Errorf("the writes are %.100q", all)
	}
}
