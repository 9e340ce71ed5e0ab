package apidocs

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"regexp"
	"strconv"
)

// exactID is the example of an id that a double-precision number cannot hold.
const exactID = "9007199254740993"

var (
	// exampleID matches the id of an example, except for those that show a limit. It begins with
	// letters, which makes the search fast.
	exampleID = regexp.MustCompile(`id"?: ([1-9]|` + exactID + `),?\n`)
	digits    = regexp.MustCompile(`\d+`)
)

// drawn returns the document with new ids in its examples.
func (d *Document) drawn() *Document {
	return newDocument(d.header.Get("Content-Type"), exampleID.ReplaceAllFunc(d.body, drawID))
}

// drawID replaces an id by a new one of the same kind: one of ten digits, or an odd number beyond 2^53.
func drawID(text []byte) []byte {
	var random [8]byte
	rand.Read(random[:]) // never fails
	n := binary.BigEndian.Uint64(random[:])
	id := 1e9 + n%9e9
	if bytes.Contains(text, []byte(exactID)) {
		id = 1<<53 + 1 + n%(1<<52)*2
	}
	return digits.ReplaceAll(text, strconv.AppendUint(nil, id, 10))
}
