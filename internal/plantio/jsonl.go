package plantio

import (
	"bufio"
	"bytes"
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
