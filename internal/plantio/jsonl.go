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
	long []byte // buffer for lines longer than the buffer of in
	line int
}

// Read implements [Reader]. It skips blank lines, but not one that is too long: the rest of it,
// which nextLong drops, may be a plant.
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

// next returns the next line, which is valid until the following call.
func (r *jsonReader) next() ([]byte, error) {
	r.line++
	text, err := r.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		text, err = r.nextLong(text)
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	if errors.Is(err, io.EOF) && len(text) > 0 { // the last line may lack a line end
		return text, nil
	}
	return text, err
}

// nextLong reads the rest of a line that begins with start. It truncates a line that
// is too long, but leaves it too long.
func (r *jsonReader) nextLong(start []byte) (line []byte, err error) {
	r.long = append(r.long[:0], start...)
	for err = bufio.ErrBufferFull; errors.Is(err, bufio.ErrBufferFull); {
		var more []byte
		more, err = r.in.ReadSlice('\n')
		if !r.limits.TooLong(r.long) {
			r.long = append(r.long, more...)
		}
	}
	return r.long, err
}
