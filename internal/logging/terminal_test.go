package logging_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"plantstore/internal/logging"
)

func TestLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                           "",
		"Grünlilie 植物 🌵":             "Grünlilie 植物 🌵",
		"\x1b]0;title\a\x1b[2K\r":    `\u001b]0;title\u0007\u001b[2K\u000d`,
		"a\nplantstore: all is well": `a\u000aplantstore: all is well`,
		"a\tb":                       `a\u0009b`,
		"\u009b31m\u0085\x7f":        `\u009b31m\u0085\u007f`,
		"\x9b31m":                    "\ufffd31m",
		"\u202egpj.exe\u2066":        `\u202egpj.exe\u2066`,
		"\u061c\u200e\u2028\u2029":   `\u061c\u200e\u2028\u2029`,
	} {
		if got := logging.Line(text); got != want {
			t.Errorf("Line(%q) = %s, want %s", text, got, want)
		}
	}
}

// TestTerminalWriterInPieces checks that a text that is split into writes anywhere, also within a
// character, loses no character and gets no control character but line ends and tabs.
func TestTerminalWriterInPieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.SliceOf(rapid.SampledFrom([]rune("a\n\t\x1b\x7f\u0080\u009b\u202e植🌵"))).Draw(r, "text")
		want, out := "", new(bytes.Buffer)
		for _, c := range text {
			if c == '\n' || c == '\t' {
				want += string(c)
			} else {
				want += logging.Line(string(c))
			}
		}
		w := logging.NewTerminalWriter(out)
		for rest := []byte(string(text)); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(r, "n")
			if written, err := w.Write(rest[:n]); written != n || err != nil {
				r.Fatalf("%d bytes written, %v", written, err)
			}
			rest = rest[n:]
		}
		if out.String() != want {
			r.Fatalf("%q in pieces is %q, want %q", string(text), out.String(), want)
		}
	})
	out := new(bytes.Buffer)
	w := logging.NewTerminalWriter(out)
	for _, b := range []byte("\x9b31m\xe2.") {
		_, _ = w.Write([]byte{b})
	}
	if got := out.String(); got != "\ufffd31m\ufffd." {
		t.Errorf("invalid UTF-8 is written as %q", got)
	}
}
