package logging

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// Line returns text as one line that is safe to show on a terminal: every character that is not
// printable is escaped as \uXXXX. Control characters would move the cursor or forge lines, and
// bidirectional controls would show the text in another order.
func Line(text string) string { return escape(text, "") }

// escape escapes the characters of text that are not printable, except for kept ones. Invalid UTF-8
// is replaced, since a terminal may take its bytes for control characters.
func escape(text, kept string) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	hidden := func(r rune) bool { return !unicode.IsPrint(r) && !strings.ContainsRune(kept, r) }
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// A TerminalWriter escapes every character that is not printable, except for line ends and tabs. A
// character that is incomplete after the last Write is lost.
type TerminalWriter struct {
	to io.Writer

	mu   sync.Mutex
	rest []byte // the beginning of an incomplete character
}

// NewTerminalWriter returns a TerminalWriter that writes to w.
func NewTerminalWriter(w io.Writer) *TerminalWriter { return &TerminalWriter{to: w} }

// Write implements [io.Writer]. It keeps the bytes of an incomplete last character for the
// next Write. It writes to the underlying writer once.
func (w *TerminalWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := bytes.Join([][]byte{w.rest, p}, nil)
	end := len(text)
	for i := max(0, end-utf8.UTFMax); i < end; i++ {
		if !utf8.FullRune(text[i:]) {
			end = i
		}
	}
	w.rest = text[end:]
	if _, err := io.WriteString(w.to, escape(string(text[:end]), "\n\t")); err != nil {
		return 0, err
	}
	return len(p), nil
}

// IsTerminal reports whether w, or its underlying writer, is a terminal.
func IsTerminal(w io.Writer) bool {
	file, ok := Underlying(w).(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// TerminalWidth returns the number of columns of a terminal, 0 for any other writer.
func TerminalWidth(w io.Writer) int {
	file, ok := Underlying(w).(*os.File)
	if !ok {
		return 0
	}
	width, _, _ := term.GetSize(int(file.Fd()))
	return width
}

// Hyperlink returns a URL as one to click on a terminal (OSC 8), also where it takes several lines,
// if w is a terminal, TERM names it, and it is not one without links. Otherwise it returns the URL.
func Hyperlink(w io.Writer, url, name string) string {
	if url = Line(url); !IsTerminal(w) || name == "" || name == "dumb" || name == "linux" {
		return url
	}
	return "\x1b]8;;" + url + "\x1b\\" + url + "\x1b]8;;\x1b\\"
}

// Underlying returns the underlying writer of w if w is a [TerminalWriter], else w.
func Underlying(w io.Writer) io.Writer {
	if wrapped, ok := w.(*TerminalWriter); ok {
		return wrapped.to
	}
	return w
}
