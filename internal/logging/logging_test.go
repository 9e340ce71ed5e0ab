package logging_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/logging"
)

// TestNew checks that a log has the chosen format, and its level may change at any time.
func TestNew(t *testing.T) {
	t.Parallel()
	for format, want := range map[logging.Format]string{
		logging.Text:  `level=ERROR msg=written n=1 cause="\x1b[2J"`,
		logging.JSON:  `"level":"ERROR","msg":"written","n":1,"cause":"\u001b[2J"`,
		logging.Color: "\x1b[91mERR\x1b[0m written \x1b[2mn=\x1b[0m1 \x1b[2mcause=\x1b[0m\\u001b[2J",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			var level slog.LevelVar
			logger, buffer := logging.New(&out, format, &level)
			level.Set(slog.LevelError + 1)
			logger.Error("left out")
			level.Set(slog.LevelError)
			logger.Error("written", "n", 1, "cause", errors.New("\x1b[2J")) // a client may send this
			if err := buffer.Close(); err != nil {
				t.Error(err)
			}
			if json.Valid(out.Bytes()) != (format == logging.JSON) || strings.Count(out.String(), "\n") != 1 || !strings.Contains(out.String(), want) {
				t.Errorf("the log is %q, want %q", &out, want)
			}
		})
	}
}

// TestLinesLost checks that the log reports the number of lost lines, in its own format and at
// any level.
func TestLinesLost(t *testing.T) {
	t.Parallel()
	for want, format := range map[string]logging.Format{`level=ERROR msg="log lines lost" lines=1`: logging.Text, `"level":"ERROR","msg":"log lines lost","lines":1}`: logging.JSON} {
		synctest.Test(t, func(t *testing.T) {
			g := &gate{open: make(chan struct{})}
			logger, buffer := logging.New(g, format, slog.LevelError+1)
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
