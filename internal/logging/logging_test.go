package logging_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/logging"
)

// A log is text or JSON, and its level may change at any time.
func TestNew(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]bool{"text": true, "JSON": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			var level slog.LevelVar
			logger, buffer := logging.New(&out, text, &level)
			logger.Debug("left out")
			level.Set(slog.LevelDebug)
			logger.Debug("written", "n", 1)
			if err := buffer.Close(); err != nil {
				t.Error(err)
			}
			if json.Valid(out.Bytes()) == text || strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), "written") {
				t.Errorf("the log is %s", &out)
			}
		})
	}
}

// The log mentions how many of its lines were lost, in its own format and at any level.
func TestLinesLost(t *testing.T) {
	t.Parallel()
	for want, text := range map[string]bool{`level=ERROR msg="log lines lost" lines=1`: true, `"level":"ERROR","msg":"log lines lost","lines":1}`: false} {
		synctest.Test(t, func(t *testing.T) {
			g := &gate{open: make(chan struct{})}
			logger, buffer := logging.New(g, text, slog.LevelError+1)
			for range 3 { // one is written, one is pending
				logger.Log(t.Context(), slog.LevelError+1, "large", "x", strings.Repeat("x", 1<<20))
				synctest.Wait()
			}
			time.Sleep(time.Second)
			close(g.open)
			if err := buffer.Close(); err != nil || !strings.HasSuffix(g.out.String(), want+"\n") {
				t.Errorf("the end of the log is %q, want %q: %v", g.out.Bytes()[max(0, g.out.Len()-100):], want, err)
			}
		})
	}
}
