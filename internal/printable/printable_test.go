package printable_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"plantstore/internal/printable"
)

func TestLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                           "",
		"Monstera":                   "Monstera",
		"Grünlilie 植物 👩‍🌾\u3000":     "Grünlilie 植物 👩‍🌾\u3000",
		"\x1b]0;title\a\x1b[2K\r":    `\u001b]0;title\u0007\u001b[2K\u000d`,
		"a\nplantstore: all is well": `a\u000aplantstore: all is well`,
		"a\tb":                       `a\u0009b`,
		"\u009b31m\u0085\x7f":        `\u009b31m\u0085\u007f`,
		"\x9b31m":                    `\x9b31m`,
		"\u202egpj.exe\u2066":        `\u202egpj.exe\u2066`,
		"\u061c\u200e\u200f\u2069":   `\u061c\u200e\u200f\u2069`,
		"\u2028\u2029":               `\u2028\u2029`,
		"\ufffd\xff":                 "\ufffd" + `\xff`,
	} {
		if got := printable.Line(text); got != want {
			t.Errorf("Line(%q) = %s, want %s", text, got, want)
		}
	}
}

// listed are the control characters beyond ASCII.
func listed() map[rune]bool {
	all := map[rune]bool{0x061c: true, 0x200e: true, 0x200f: true, 0x2028: true, 0x2029: true}
	for _, span := range [][2]rune{{0x7f, 0x9f}, {0x202a, 0x202e}, {0x2066, 0x2069}} {
		for r := span[0]; r <= span[1]; r++ {
			all[r] = true
		}
	}
	return all
}

// TestEveryCharacter checks that exactly the listed characters are escaped.
func TestEveryCharacter(t *testing.T) {
	t.Parallel()
	all := listed()
	for r := rune(' '); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		want := string(r)
		if all[r] {
			want = fmt.Sprintf(`\u%04x`, r)
		}
		if got := printable.Line(string(r)); got != want {
			t.Errorf("U+%04X has become %q", r, got)
		}
	}
	for r := range rune(' ') {
		if got, want := printable.Line(string(r)), fmt.Sprintf(`\u%04x`, r); got != want {
			t.Errorf("U+%04X has become %q", r, got)
		}
		kept := r == '\n' || r == '\t'
		if got := string(printable.Append(nil, []byte(string(r)))); (got == string(r)) != kept {
			t.Errorf("U+%04X of a text has become %q", r, got)
		}
	}
}

// TestWriterInPieces checks that however a text is split into writes, a Writer writes the same
// as Append.
func TestWriterInPieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.SliceOf(rapid.SampledFrom([]byte("a\n\t\x1b\x7f\x80\x9b\xc2\xe2\x80\xae\xf0\x9f\x8c\xb5\xff"))).Draw(r, "text")
		var out bytes.Buffer
		w := printable.NewWriter(&out)
		for rest := text; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(r, "n")
			if written, err := w.Write(rest[:n]); written != n || err != nil {
				r.Fatalf("%d bytes written, %v", written, err)
			}
			rest = rest[n:]
		}
		_, _ = w.Write([]byte{'.'}) // completes or breaks off a partial character
		text = append(text, '.')
		if want := string(printable.Append(nil, text)); out.String() != want {
			r.Fatalf("%q in pieces is %q, at once %q", text, out.String(), want)
		}
	})
}

func TestWriterFails(t *testing.T) {
	t.Parallel()
	w := printable.NewWriter(broken{})
	for _, text := range []string{"plain", "\x1b"} {
		if _, err := w.Write([]byte(text)); !errors.Is(err, errBroken) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func BenchmarkWriterPlain(b *testing.B) {
	line := []byte(strings.Repeat("a usual line of a log", 12) + "\n")
	w := printable.NewWriter(discard{})
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		_, _ = w.Write(line)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
