// Package printable makes text safe to show on a terminal and in a log. Control
// characters would move the cursor, clear lines or forge them, and bidirectional
// controls would show text in another order than it has.
//
// Characters are escaped as \uXXXX, so that JSON stays the same JSON.
package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns text as one line: every control character is escaped, including line ends
// and tabs.
func Line(text string) string {
	if isPlain([]byte(text), "") {
		return text
	}
	return string(appendEscaped(nil, []byte(text), ""))
}

// Append appends text to b and escapes every control character except line ends and tabs.
func Append(b, text []byte) []byte {
	if isPlain(text, layout) {
		return append(b, text...)
	}
	return appendEscaped(b, text, layout)
}

// layout are the control characters that are not escaped in a text.
const layout = "\n\t"

// isPlain reports whether text is printable ASCII, or kept.
func isPlain(text []byte, kept string) bool {
	for _, c := range text {
		if (c < ' ' || c > '~') && strings.IndexByte(kept, c) < 0 {
			return false
		}
	}
	return true
}

// appendEscaped appends text and escapes every character on which a terminal acts, unless it
// is kept: a control character, a bidirectional control, or a separator of lines or paragraphs.
func appendEscaped(b, text []byte, kept string) []byte {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = fmt.Appendf(b, `\x%02x`, text[i]) // C1 control characters on a terminal that is not UTF-8
		case unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp) && !strings.ContainsRune(kept, r):
			b = fmt.Appendf(b, `\u%04x`, r) // all of them are below U+10000
		default:
			b = append(b, text[i:i+size]...)
		}
		i += size
	}
	return b
}
