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

// A jsonWriter writes JSON Lines.
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

// A jsonReader reads JSON Lines.
type jsonReader struct {
	lineDecoder

	in   *bufio.Reader
	line int
	long []byte // the line, if it does not fit into the buffer of in
}

// Read implements [Reader]. It skips blank lines, but not one that is too long: the rest of it,
// which next drops, may be a plant.
func (r *jsonReader) Read() (storage.Record, int, error) {
	for {
		text, err := r.next()
		if err != nil {
			return storage.Record{}, r.line, err
		}
		if len(bytes.TrimSpace(text)) > 0 || r.limits.TooLong(text) {
			record, err := r.decode(text, r.line)
			return record, r.line, err
		}
	}
}

// next returns the next line, which is valid until the following call. Of one that is too long it
// returns the first bytes, which are too many for a plant.
func (r *jsonReader) next() ([]byte, error) {
	r.line++
	r.long = r.long[:0]
	text, err := r.in.ReadSlice('\n')
	for errors.Is(err, bufio.ErrBufferFull) {
		if !r.limits.TooLong(r.long) {
			r.long = append(r.long, text...)
		}
		text, err = r.in.ReadSlice('\n')
	}
	if len(r.long) > 0 {
		r.long = append(r.long, text...)
		text = r.long
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	if errors.Is(err, io.EOF) && len(text) > 0 { // the last line may lack a line end
		return text, nil
	}
	return text, err
}
