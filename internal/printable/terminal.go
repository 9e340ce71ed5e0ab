package printable

import (
	"io"
	"os"

	"golang.org/x/term"
)

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
