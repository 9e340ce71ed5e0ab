package printable

import (
	"io"
	"sync"
	"unicode/utf8"
)

// A Writer passes on text with every character escaped that a terminal acts on. Line
// ends and tabs stay. A character that is not complete when the last Write ends is
// lost.
type Writer struct {
	to io.Writer

	mu      sync.Mutex
	rest    []byte // the beginning of a character that is not complete
	escaped []byte // memory
}

// NewWriter returns a Writer that passes on to w.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

// Unwrap returns the writer that w passes on to.
func (w *Writer) Unwrap() io.Writer { return w.to }

// keptMemory is the size in bytes up to which a Writer keeps its memory.
const keptMemory = 64 << 10

// Write implements [io.Writer]. Of a character that p ends in the middle of, it keeps
// the bytes for the next Write. One call is at most one of the underlying writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) == 0 && isPlain(p, layout) {
		return w.to.Write(p)
	}
	text := append(w.rest, p...) //nolint:gocritic // rest is set below
	end := complete(text)
	w.escaped = Append(w.escaped[:0], text[:end])
	w.rest = append([]byte(nil), text[end:]...)
	_, err := w.to.Write(w.escaped)
	if cap(w.escaped) > keptMemory {
		w.escaped = nil
	}
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// complete returns where text ends without the beginning of a character whose other
// bytes are missing.
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
