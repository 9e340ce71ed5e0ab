package logging_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"plantstore/internal/logging"
	"plantstore/middleware"
	"plantstore/models"
)

// TestRequests checks the line of each outcome for people, its color, and that it is one line.
func TestRequests(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 2, 3, 21, 59, 0, time.Local)
	request := new(http.Request)
	failure := models.NewError(500, "the server failed").WithCause(errors.New("panic\nstack"))
	for _, test := range []struct {
		outcome middleware.Outcome
		want    string
	}{
		{middleware.Outcome{Name: middleware.Created, Status: 200, Plant: true, PlantID: 7, Subject: "alice"}, "\x1b[92m200\x1b[0m POST /plants  id 7  (alice, 0.6 ms)"},
		{middleware.Outcome{Name: middleware.Read, Status: 200}, "200 POST /plants  (0.6 ms)"},
		{middleware.Outcome{Name: middleware.Refused, Error: models.NewError(422, "name: is required"), Subject: "a\x1b[2J"}, "\x1b[93m422\x1b[0m POST /plants  name: is required  (a\\u001b[2J, 0.6 ms)"},
		{middleware.Outcome{Name: middleware.Refused, Error: models.NewError(401, "bad token").WithCause(errors.New("no kid"))}, "\x1b[93m401\x1b[0m POST /plants  bad token  (0.6 ms)"},
		{middleware.Outcome{Name: middleware.Failed, Level: slog.LevelError, Error: failure}, "\x1b[91m500\x1b[0m POST /plants  the server failed: panic\\u000astack  (0.6 ms, mine-1)"},
		{middleware.Outcome{Name: middleware.Failed, Level: slog.LevelWarn, Error: models.NewError(503, "busy"), Subject: "alice"}, "\x1b[91m503\x1b[0m POST /plants  busy  (alice, 0.6 ms, mine-1)"},
		{middleware.Outcome{Name: middleware.Fault, Error: failure}, "\x1b[93m500\x1b[0m POST /plants  the server failed  (on demand, 0.6 ms)"},
	} {
		o := test.outcome
		o.Request, o.Method, o.Path, o.Began, o.Took, o.RequestID = request, "POST", "/plants", began, 600*time.Microsecond, "mine-1"
		var out bytes.Buffer
		buffer := logging.NewBuffer(&out)
		logging.Requests(buffer, slog.LevelInfo, true)(t.Context(), &o)
		if o.Level == slog.LevelError && out.Len() == 0 {
			t.Error("an error is not written at once")
		}
		logging.Requests(buffer, slog.LevelError+1, true)(t.Context(), &o)
		buffer.Flush()
		if got := out.String(); got != "03:21:59 "+test.want+"\n" {
			t.Errorf("%s: %q, want %q", o.Name, got, test.want)
		}
	}
	var out bytes.Buffer
	buffer := logging.NewBuffer(&out)
	logging.Requests(buffer, slog.LevelInfo, false)(t.Context(), middleware.NewRefusal(models.NewError(400, "no HTTP"), "", ""))
	buffer.Flush()
	if got := out.String(); len(got) < 9 || got[9:] != "400 (header refused)  no HTTP  (0.0 ms)\n" {
		t.Errorf("without color: %q", got)
	}
}
