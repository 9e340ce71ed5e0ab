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
