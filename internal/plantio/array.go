package plantio

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
)

// jsonArray reads the elements of a JSON array. It only finds their ends: [models.Decoder] checks
// whether an element is JSON.
type jsonArray struct {
	in       *bufio.Reader // after the opening bracket
	maxBytes int64
	line     int
	element  int    // number of the last element
	text     []byte // the element; of one that is too long the first bytes, which are too many for a plant
	closed   bool   // the closing bracket has been read
}

// next returns an element, without the spaces around it, which is valid until the following call.
func (a *jsonArray) next() ([]byte, Position, error) {
	if a.closed {
		return nil, Position{}, a.end()
	}
	a.text = a.text[:0]
	a.element++
	at := Position{Element: a.element}
	depth, quoted, escaped := 0, false, false
	for {
		c, err := a.readByte()
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("the array is cut short: it ends in element %d", a.element)
		}
		if err != nil {
			return nil, at, err
		}
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == '{', c == '[':
			depth++
		case depth > 0 && (c == '}' || c == ']'):
			depth--
		case depth == 0 && isSpace(c):
			continue
		case depth == 0 && (c == ',' || c == ']'):
			a.closed = c == ']'
			if a.closed && len(a.text) == 0 && a.element == 1 {
				return nil, at, a.end()
			}
			at.Line = cmp.Or(at.Line, a.line)
			return a.text, at, nil
		}
		at.Line = cmp.Or(at.Line, a.line)
		if int64(len(a.text)) <= a.maxBytes {
			a.text = append(a.text, c)
		}
	}
}

// end returns io.EOF, or an error if the array is not the end of the file.
func (a *jsonArray) end() error {
	for {
		c, err := a.readByte()
		if err != nil {
			return err
		}
		if !isSpace(c) {
			return fmt.Errorf("line %d: the file continues after the end of its array", a.line)
		}
	}
}

func (a *jsonArray) readByte() (byte, error) {
	c, err := a.in.ReadByte()
	if c == '\n' {
		a.line++
	}
	return c, err
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
