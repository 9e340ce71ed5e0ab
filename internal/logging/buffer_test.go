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
)

// TestOrder checks that no line of concurrent writers is lost or torn, and that the lines of
// each writer stay in order.
func TestOrder(t *testing.T) {
	t.Parallel()
	const writers, lines = 8, 500
	var out bytes.Buffer
	b := logging.NewBuffer(&out, nil)
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
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	next := [writers]int{}
	for line := range strings.Lines(out.String()) {
		var w, n int
		if _, err := fmt.Sscanf(line, "%d %d\n", &w, &n); err != nil || n != next[w] {
			t.Fatalf("line %q, want number %d: %v", line, next[w], err)
		}
		next[w]++
	}
	for w, n := range next {
		if n != lines {
			t.Errorf("%d lines of writer %d, want %d", n, w, lines)
		}
	}
}

// A gate is a writer that blocks until its channel is closed or has a value.
type gate struct {
	open chan struct{}
	out  bytes.Buffer
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	return g.out.Write(p)
}

// TestSlowWriter checks that writes don't wait for the underlying writer until the buffer is
// full.
func TestSlowWriter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		b := logging.NewBuffer(g, nil)
		line := bytes.Repeat([]byte("x"), 100<<10)
		written := 0
		go func() {
			for range 30 {
				_, _ = b.Write(line)
				written++
			}
		}()
		synctest.Wait()
		if written < 10 || written > 20 {
			t.Errorf("%d lines of 100 KiB did not block, want 1 to 2 MiB of them", written)
		}
		close(g.open)
		time.Sleep(time.Second)
		if err := b.Close(); err != nil || g.out.Len() != 30*len(line) {
			t.Errorf("%d bytes were written, want %d: %v", g.out.Len(), 30*len(line), err)
		}
	})
}

func TestAfterClose(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	b := logging.NewBuffer(&out, nil)
	for range 2 {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := io.WriteString(b, "late"); err != nil || out.String() != "late" {
		t.Errorf("%q was written: %v", &out, err)
	}
}

// A broken writer fails.
type broken struct{}

var errBroken = errors.New("broken")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestBrokenWriter(t *testing.T) {
	t.Parallel()
	b := logging.NewBuffer(broken{}, nil)
	for range 3 {
		if _, err := io.WriteString(b, "lost"); err != nil {
			t.Errorf("Write: %v", err)
		}
	}
	if err := b.Close(); !errors.Is(err, errBroken) {
		t.Errorf("Close: %v", err)
	}
}

// TestDropped checks that a full buffer blocks for two seconds while its writer stalls, then
// drops lines and counts them. When the writer continues, so does the log.
func TestDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{}, 10)}
		b := logging.NewBuffer(g, func(n uint64) []byte { return fmt.Append(nil, n, " lost") })
		write := func(text string) (waited time.Duration) {
			start := time.Now()
			if n, err := io.WriteString(b, text); n != len(text) || err != nil {
				t.Errorf("Write: %d, %v", n, err)
			}
			return time.Since(start)
		}
		full := strings.Repeat("x", 1<<20)
		write(full)
		synctest.Wait() // it is being written
		time.Sleep(time.Hour)
		for i, want := range []time.Duration{0, 2 * time.Second, 0, 0} { // the first one is buffered
			if waited := write(full); waited != want {
				t.Errorf("write %d has waited %v, want %v", i, waited, want)
			}
		}
		if n := b.Dropped(); n != 3 {
			t.Errorf("%d were dropped, want 3", n)
		}
		g.open <- struct{}{}
		time.Sleep(time.Second) // the next write is in progress
		if waited := write("again"); waited != 0 {
			t.Errorf("with space it has waited %v", waited)
		}
		close(g.open)
		if err := b.Close(); err != nil || g.out.String() != full+full+"3 lostagain" {
			t.Errorf("%d bytes were written, the end is %q: %v", g.out.Len(), strings.Trim(g.out.String(), "x"), err)
		}
	})
}

// TestBurst checks that a burst after a long silence does not count as a stalled writer.
func TestBurst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		b := logging.NewBuffer(&out, nil)
		for range 3 {
			for range 20 {
				if _, err := b.Write(make([]byte, 100<<10)); err != nil {
					t.Error(err)
				}
			}
			time.Sleep(time.Hour)
		}
		if err := b.Close(); err != nil || out.Len() != 60*100<<10 || b.Dropped() != 0 {
			t.Errorf("%d bytes were written, %d lines were dropped: %v", out.Len(), b.Dropped(), err)
		}
	})
}

// TestStalledWriter checks that a stalled writer blocks neither writes nor Close forever.
func TestStalledWriter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		b := logging.NewBuffer(g, nil)
		var waiting sync.WaitGroup
		for range 5 {
			waiting.Go(func() { _, _ = b.Write(make([]byte, 1<<20)) })
		}
		synctest.Wait()
		if err := b.Close(); !errors.Is(err, logging.ErrStalled) {
			t.Errorf("Close: %v", err)
		}
		waiting.Wait()
		if _, err := io.WriteString(b, "late"); !errors.Is(err, logging.ErrStalled) {
			t.Errorf("Write: %v", err)
		}
		close(g.open)
		_ = b.Close() // which waits for the goroutine of the buffer
	})
}

// TestPause checks that the first line is written at once, and that a write takes all lines
// of the pause before it.
func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out writes
		b := logging.NewBuffer(&out, nil)
		for n := range 100 {
			if _, err := b.Write([]byte{byte(n)}); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			if n == 0 && len(out) != 1 {
				t.Error("the first line is not written at once")
			}
			time.Sleep(100 * time.Microsecond)
		}
		if err := b.Close(); err != nil || len(out) > 7 {
			t.Errorf("%d writes for 100 lines in ten milliseconds, want at most 7: %v", len(out), err)
		}
		if n := len(bytes.Join(out, nil)); n != 100 {
			t.Errorf("%d of 100 lines were written", n)
		}
	})
}

// The writes to a writer.
type writes [][]byte

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, bytes.Clone(p))
	return len(p), nil
}
