package logging_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/logging"
	"plantstore/internal/must"
)

// TestNew checks that a log has the chosen format, and its level may change at any time.
func TestNew(t *testing.T) {
	t.Parallel()
	for format, want := range map[logging.Format]string{
		logging.Text:  `level=ERROR msg=written outcome=failed cause="\x1b[2J" x_ms=1.5 empty=""`,
		logging.JSON:  `"level":"ERROR","msg":"written","outcome":"failed","cause":"\u001b[2J","x_ms":1.5,"empty":""`,
		logging.Color: "\x1b[91mERR\x1b[0m written \x1b[2moutcome=\x1b[0mfailed \x1b[2mcause=\x1b[0m\\u001b[2J \x1b[2mx=\x1b[0m1.5ms\n",
	} {
		var out bytes.Buffer
		var level slog.LevelVar
		logger, buffer := logging.New(&out, format, &level)
		level.Set(slog.LevelError + 1)
		logger.Error("left out")
		level.Set(slog.LevelError)
		logger.Error("written", "outcome", "failed", "cause", errors.New("\x1b[2J"), "x_ms", 1.5, "empty", "") // a client may send this
		buffer.Flush()
		if json.Valid(out.Bytes()) != (format == logging.JSON) || strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), want) {
			t.Errorf("the log is %q, want %q", &out, want)
		}
	}
}

// TestErrorsAreFlushed checks that an error is written at once, with all lines before it.
func TestErrorsAreFlushed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out writes
		logger, _ := logging.New(&out, logging.Text, slog.LevelInfo)
		for _, log := range []*slog.Logger{logger, logger.With("x", 1)} {
			time.Sleep(time.Hour)
			before := len(out.done())
			log.Info("before it")
			if len(out.done()) != before {
				t.Error("a line is not buffered")
			}
			log.Error("an error")
			if all := out.done(); len(all) != before+1 || strings.Count(all[before], "\n") != 2 {
				t.Errorf("the writes are %q", all[before:])
			}
		}
	})
}

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
