package ratelimit_test

import (
	"testing"
	"time"

	"plantstore/internal/ratelimit"
)

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
	for _, text := range []string{"", "1", "/s", "0/s", "1/d", "1/", "1/S", " 1/s", "-1/s", "1.5/s", "1000001/s"} {
		if got, err := ratelimit.Parse(text); err == nil {
			t.Errorf("%q: %+v, want an error", text, got)
		}
	}
	if text := (ratelimit.Rate{}).String(); text != "" {
		t.Errorf("no limit is %q, want an empty text", text)
	}
}
