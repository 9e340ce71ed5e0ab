package printable

import (
	"bytes"
	"io"
	"os"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"
)

// A Writer escapes every control character except line ends and tabs. A character that is
// incomplete after the last Write is lost.
type Writer struct {
	to io.Writer

	mu   sync.Mutex
	rest []byte // the beginning of an incomplete character
}

// NewWriter returns a Writer that writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

// Write implements [io.Writer]. It keeps the bytes of an incomplete last character for the
// next Write. It writes to the underlying writer at most once.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) == 0 && isPlain(p, layout) {
		return w.to.Write(p)
	}
	text := append(w.rest, p...) //nolint:gocritic // rest is set below
	end := complete(text)
	w.rest = bytes.Clone(text[end:])
	if _, err := w.to.Write(Append(nil, text[:end])); err != nil {
		return 0, err
	}
	return len(p), nil
}

// complete returns the length of text without an incomplete last character.
func complete(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return len(text) - n
			}
			break
		}
	}
	return len(text)
}

// IsTerminal reports whether w, or its underlying writer, is a terminal.
func IsTerminal(w io.Writer) bool {
	file, ok := Underlying(w).(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Underlying returns the underlying writer of w if w is a [Writer], else w.
func Underlying(w io.Writer) io.Writer {
	if wrapped, ok := w.(*Writer); ok {
		return wrapped.to
	}
	return w
}
