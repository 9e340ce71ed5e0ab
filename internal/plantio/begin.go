package plantio

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"plantstore/internal/files"
)

// A FormatError reports a file that is not in its format, with a remedy. It is returned before
// any plant.
type FormatError struct{ reason string }

func (e *FormatError) Error() string { return e.reason }

func badFormat(format string, args ...any) *FormatError {
	return &FormatError{shorten(fmt.Sprintf(format, args...))}
}

// beginSize is the number of bytes by which a file is recognized.
const beginSize = 4 << 10

// begin skips a byte order mark and returns the first line that is not blank, or the beginning of a
// longer one. It returns a *[FormatError] for a file in another encoding, which names the format.
func begin(in *bufio.Reader, format Format) ([]byte, error) {
	head, err := in.Peek(beginSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	const byteOrderMark = "\ufeff"
	if bytes.HasPrefix(head, []byte(byteOrderMark)) {
		head = head[len(byteOrderMark):]
		_, _ = in.Discard(len(byteOrderMark)) // in the buffer
	}
	head = bytes.TrimLeft(head, " \t\r\n")
	line := head
	if end := bytes.IndexAny(head, "\r\n"); end >= 0 {
		line = head[:end]
	}
	remedy := " | plantstore plants import -"
	if format == CSV {
		remedy = " | plantstore plants import --format csv -"
	}
	utf16, rest := files.UTF16(head), head[len(line):]
	switch {
	case bytes.HasPrefix(line, []byte("\x1f\x8b")):
		return nil, badFormat("is compressed with gzip: run zcat FILE%s", remedy)
	case bytes.HasPrefix(line, []byte("PK\x03\x04")):
		return nil, badFormat("is a zip archive or a spreadsheet: unpack it, or save the spreadsheet as UTF-8 CSV with commas")
	case utf16 != "":
		return nil, badFormat("is in %s: save it as UTF-8, or run iconv -f %[1]s -t UTF-8 FILE%s", utf16, remedy)
	case bytes.IndexByte(line, 0) >= 0:
		return nil, badFormat("is a binary file: save a spreadsheet as UTF-8 CSV with commas, and a database with plantstore plants export")
	case len(rest) > 1 && rest[0] == '\r' && rest[1] != '\n' && line[0] != '[': // an array may have any
		return nil, badFormat(`ends its lines with CR alone: run tr '\r' '\n' <FILE%s`, remedy)
	}
	return bytes.Clone(line), nil
}

// Open reads the beginning of the file. It returns a *[FormatError] for a file that is not in its
// format. Read calls it.
func (r *Reader) Open() error {
	if r.lines != nil {
		return nil
	}
	line, err := begin(r.in, r.format)
	switch {
	case err != nil:
		return err
	case r.format == CSV:
		r.lines, err = newCSVLines(r.in, line, r.maxBytes)
		return err
	case bytes.HasPrefix(line, []byte("[")):
		before, _ := r.in.ReadString('[') // in the buffer
		r.lines = &jsonArray{in: r.in, maxBytes: r.maxBytes, line: 1 + strings.Count(before, "\n")}
	case bytes.Equal(bytes.TrimSpace(line), []byte("{")):
		return badFormat("has a plant that spans lines: write each plant on one line, such as with jq -c . FILE, or all plants into an array")
	case len(line) > 0 && line[0] != '{':
		return badFormat("begins with %.40q, not with { or [, so it is not JSON: name a CSV file .csv, or import it with --format csv", line)
	default:
		r.lines = &jsonLines{in: r.in, maxBytes: r.maxBytes}
	}
	return nil
}
