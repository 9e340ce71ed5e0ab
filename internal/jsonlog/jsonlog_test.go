package jsonlog_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"plantstore/internal/jsonlog"
)

// now has a fraction that ends in zeros, and a zone.
func now() time.Time {
	return time.Date(2026, time.November, 21, 9, 8, 7, 120_000_000, time.FixedZone("", 3600))
}

// compare compares the line of a record with that of slog's own handler.
func compare(t *testing.T, r slog.Record, derive func(slog.Handler) slog.Handler) {
	t.Helper()
	var got, want bytes.Buffer
	errs := errors.Join(
		derive(jsonlog.NewHandler(&got, nil)).Handle(context.Background(), r.Clone()),
		derive(slog.NewJSONHandler(&want, nil)).Handle(context.Background(), r.Clone()))
	if errs != nil {
		t.Fatal(errs)
	}
	if got.String() != want.String() {
		t.Errorf("got  %swant %s", got.String(), want.String())
	}
}

func asIs(h slog.Handler) slog.Handler { return h }

// Every record looks as slog itself would write it, whichever of the two did.
func TestSameAsSlog(t *testing.T) {
	t.Parallel()
	for name, attrs := range map[string][]slog.Attr{
		"none":            nil,
		"usual":           {slog.String("a", "text ~!"), slog.Int("b", -5), slog.Duration("c", time.Second)},
		"group, no key":   {slog.Any("", slog.GroupValue(slog.String("a", "x"), slog.Int("b", 1))), slog.Int("c", 2)},
		"empty group":     {slog.Any("", slog.GroupValue()), slog.Group("g"), slog.Int("c", 2)},
		"named group":     {slog.Group("g", slog.String("a", "x"), slog.Group("h", slog.Int("b", 1)))},
		"within":          {slog.Any("", slog.GroupValue(slog.String("a", "x"), slog.Bool("b", true), slog.Int("c", 2)))},
		"quotes":          {slog.String("a", `"`), slog.String("b", `\`), slog.String(`"`, "x")},
		"control":         {slog.String("a", "\n\x00\x7f"), slog.String("b", "\u2028<&>")},
		"not ASCII":       {slog.String("a", "Ä"), slog.String("é", "x"), slog.String("b", "\xff")},
		"other kinds":     {slog.Bool("a", true), slog.Float64("b", 1.5), slog.Uint64("c", 1<<63), slog.Time("d", now())},
		"any":             {slog.Any("a", nil), slog.Any("b", []int{1}), slog.Any("c", errors.New("no"))},
		"no key":          {slog.String("", "x"), {}},
		"usual, then not": {slog.String("a", "x"), slog.Any("b", map[string]int{"y": 1}), slog.String("c", "z")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for level := slog.LevelDebug; level <= slog.LevelError+1; level++ {
				r := slog.NewRecord(now(), level, "message", 0)
				r.AddAttrs(attrs...)
				compare(t, r, asIs)
				compare(t, r, func(h slog.Handler) slog.Handler { return h.WithAttrs([]slog.Attr{slog.Int("w", 1)}) })
				compare(t, r, func(h slog.Handler) slog.Handler { return h.WithGroup("w") })
			}
		})
	}
	for _, at := range []time.Time{{}, now().UTC(), now().AddDate(9000, 0, 0), now().Add(7)} {
		compare(t, slog.NewRecord(at, slog.LevelInfo, "a \"message\"", 0), asIs)
		compare(t, slog.NewRecord(at, slog.LevelInfo, "message", 0), asIs)
	}
}

func FuzzSameAsSlog(f *testing.F) {
	f.Add("message", "key", "text", int64(1))
	f.Fuzz(func(t *testing.T, message, key, text string, number int64) {
		r := slog.NewRecord(now(), slog.LevelInfo, message, 0)
		r.AddAttrs(slog.String(key, text), slog.Int64(key, number), slog.Duration("d", time.Duration(number)))
		compare(t, r, asIs)
	})
}

// The level is asked each time.
func TestLevel(t *testing.T) {
	t.Parallel()
	var level slog.LevelVar
	var out strings.Builder
	logger := slog.New(jsonlog.NewHandler(&out, &level))
	logger.Debug("left out")
	level.Set(slog.LevelDebug)
	logger.Debug("written")
	if text := out.String(); strings.Contains(text, "left out") || !strings.Contains(text, "written") {
		t.Error(text)
	}
}

// Records of many goroutines, usual and other, are written one at a time. The race
// detector looks on: a strings.Builder is not made for more.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	logger := slog.New(jsonlog.NewHandler(&out, nil))
	const each = 100
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for n := range each {
				logger.Info("usual", "n", n)
				logger.Info("other", "n", float64(n))
				logger.With("n", n).Info("derived")
			}
		})
	}
	all.Wait()
	if n := strings.Count(out.String(), "}\n"); n != 3*4*each {
		t.Errorf("%d lines", n)
	}
}

// What the writer says is said.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	_ = r.Close()
	err := jsonlog.NewHandler(w, nil).Handle(t.Context(), slog.NewRecord(now(), slog.LevelInfo, "message", 0))
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

func BenchmarkHandle(b *testing.B) {
	var out bytes.Buffer
	for name, handler := range map[string]slog.Handler{
		"slog":    slog.NewJSONHandler(&out, nil),
		"jsonlog": jsonlog.NewHandler(&out, nil),
	} {
		b.Run(name, func(b *testing.B) {
			r := slog.NewRecord(now(), slog.LevelInfo, "request", 0)
			r.AddAttrs(slog.Any("", slog.GroupValue(
				slog.String("request_id", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), slog.String("method", "POST"),
				slog.String("path", "/plants"), slog.String("remote", "192.0.2.1:12345"),
				slog.String("subject", "client-0000001"), slog.Duration("duration", time.Millisecond),
				slog.Int("status", 200), slog.String("outcome", "ok"),
				slog.Int64("plant_id", 1), slog.Duration("store_duration", time.Millisecond))))
			b.ReportAllocs()
			for b.Loop() {
				out.Reset()
				if err := handler.Handle(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
