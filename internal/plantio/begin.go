package plantio

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
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

// begin skips a byte order mark and returns the beginning of the file after spaces, which is valid until
// the next read, and its first line. It returns a *[FormatError] for a file in another encoding, which
// names the format.
func begin(in *bufio.Reader, format Format) (line, head []byte, err error) {
	head, err = in.Peek(beginSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	const byteOrderMark = "\ufeff"
	if bytes.HasPrefix(head, []byte(byteOrderMark)) {
		head = head[len(byteOrderMark):]
		_, _ = in.Discard(len(byteOrderMark)) // in the buffer
	}
	head = bytes.TrimLeft(head, " \t\r\n")
	line = head
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
		return nil, nil, badFormat("is compressed with gzip: run zcat FILE%s", remedy)
	case bytes.HasPrefix(line, []byte("PK\x03\x04")):
		return nil, nil, badFormat("is a zip archive or a spreadsheet: unpack it, or save the spreadsheet as UTF-8 CSV with commas")
	case utf16 != "":
		return nil, nil, badFormat("is in %s: save it as UTF-8, or run iconv -f %[1]s -t UTF-8 FILE%s", utf16, remedy)
	case bytes.IndexByte(line, 0) >= 0:
		return nil, nil, badFormat("is a binary file: save a spreadsheet as UTF-8 CSV with commas, and a database with plantstore plants export")
	case len(rest) > 1 && rest[0] == '\r' && rest[1] != '\n' && line[0] != '[': // an array may have any
		return nil, nil, badFormat(`ends its lines with CR alone: run tr '\r' '\n' <FILE%s`, remedy)
	}
	return bytes.Clone(line), head, nil
}

// inArray matches an object whose first property is an array of objects, as of json-server.
var inArray = regexp.MustCompile(`^\{\s*"(\w+)"\s*:\s*\[\s*\{`)

// beginsWithPlant reports whether the first line of a file of JSON lines is a plant. One that does not fit into
// the buffer may be.
func (r *Reader) beginsWithPlant() bool {
	head, err := r.in.Peek(bufferSize)
	line, _, ended := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	return err == nil && !ended || r.decoder.Decode(line, &r.body) == nil
}

// Open reads the beginning of the file. It returns a *[FormatError] for a file that is not in its
// format. Read calls it.
func (r *Reader) Open() error {
	if r.lines != nil {
		return nil
	}
	line, head, err := begin(r.in, r.format)
	switch {
	case err != nil:
		return err
	case r.format == CSV:
		r.lines, err = newCSVLines(r.in, line, r.maxBytes)
		return err
	case bytes.HasPrefix(line, []byte("[")):
		before, _ := r.in.ReadString('[') // in the buffer
		r.lines = &jsonArray{in: r.in, maxBytes: r.maxBytes, line: 1 + strings.Count(before, "\n")}
	case inArray.Match(head) && !r.beginsWithPlant():
		return badFormat("has its plants in the array %s of an object: run jq -c '.%[1]s[]' FILE | plantstore plants import -", inArray.FindSubmatch(head)[1])
	case bytes.Equal(bytes.TrimSpace(line), []byte("{")):
		return badFormat("has a plant that spans lines: write each plant on one line, such as with jq -c . FILE, or all plants into an array")
	case len(line) > 0 && line[0] != '{':
		return badFormat("begins with %.40q, not with { or [, so it is not JSON: if it is CSV, use --format csv, or a name that ends in .csv", line)
	default:
		r.lines = &jsonLines{in: r.in, maxBytes: r.maxBytes}
	}
	return nil
}
