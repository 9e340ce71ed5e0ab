package plantio

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"

	"plantstore/storage"
)

// bufferSize is the size in bytes of the read and write buffers.
const bufferSize = 256 << 10

type jsonWriter struct {
	out  *bufio.Writer
	line []byte
}

func (w *jsonWriter) Write(record storage.Record) (err error) {
	w.line = strconv.AppendInt(append(w.line[:0], `{"id":`...), record.ID, 10)
	if w.line, err = record.Plant.AppendFields(append(w.line, ',')); err != nil {
		return fmt.Errorf("the plant with the id %d: %w", record.ID, err)
	}
	w.line = append(w.line, "}\n"...)
	_, err = w.out.Write(w.line)
	return err
}

func (w *jsonWriter) Flush() error { return w.out.Flush() }

type jsonLines struct {
	in       *bufio.Reader
	maxBytes int64
	line     int
	long     []byte // the line, if it does not fit into the buffer of in
}

// next skips blank lines, but not one that is too long: the rest of it, which is discarded, may
// be a plant.
func (l *jsonLines) next() ([]byte, Position, error) {
	for {
		text, err := l.readLine()
		if err != nil || len(bytes.TrimSpace(text)) > 0 || int64(len(text)) > l.maxBytes {
			return text, Position{Line: l.line}, err
		}
	}
}

// readLine returns the next line, which is valid until the following call. Of one that is too long
// it returns the first bytes, which are too many for a plant.
func (l *jsonLines) readLine() ([]byte, error) {
	l.line++
	l.long = l.long[:0]
	text, err := l.in.ReadSlice('\n')
	for errors.Is(err, bufio.ErrBufferFull) {
		if int64(len(l.long)) <= l.maxBytes {
			l.long = append(l.long, text...)
		}
		text, err = l.in.ReadSlice('\n')
	}
	if len(l.long) > 0 {
		l.long = append(l.long, text...)
		text = l.long
	}
	if errors.Is(err, io.EOF) && len(text) > 0 { // the last line may lack a line end
		err = nil
	}
	return bytes.TrimSuffix(text, []byte("\n")), err
}

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
