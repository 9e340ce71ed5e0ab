package requests

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"plantstore/internal/faults"
	"plantstore/internal/misspell"
	"plantstore/middleware"
	"plantstore/models"
)

// maxNotes bounds the unknown properties in [Request.Notes].
const maxNotes = 5

// notesOf returns what may be wrong with a request that is not refused for it.
func notesOf(o *middleware.Outcome, body []byte) (notes []string) {
	if o.Error != nil && o.Error.Code == models.CodeBadRequest {
		return nil // not JSON, which its message says
	}
	notes = unknownProperties(body)
	const exact = 1 << 53 // the integers up to here are numbers in JavaScript
	id := strconv.FormatInt(o.PlantID, 10)
	if o.Plant && (o.PlantID >= exact || o.PlantID <= -exact) && id == strconv.FormatFloat(float64(o.PlantID), 'f', -1, 64) {
		notes = append(notes, "the id is beyond 2^53: JavaScript rounds it")
	}
	if o.Error == nil && faults.ParsePrefer([]string{o.Prefer}) != (faults.Fault{}) {
		notes = append(notes, "Prefer is ignored: faults are off")
	}
	return notes
}

// unknownProperties returns a note for each of the first properties that a plant does not have, with the
// property of which it may be a misspelling.
func unknownProperties(body []byte) (notes []string) {
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true))
	if token, err := d.ReadToken(); err != nil || token.Kind() != jsontext.KindBeginObject {
		return nil
	}
	known := models.PropertyNames()
	for d.PeekKind() == jsontext.KindString && len(notes) < maxNotes {
		token, err := d.ReadToken()
		if err != nil {
			break // the body is cut off or malformed
		}
		if name := token.String(); !slices.Contains(known, name) {
			note := "unknown property " + strconv.Quote(models.ClientText(name)) + " is ignored"
			if i := slices.IndexFunc(known, func(k string) bool { return misspell.Near(strings.ToLower(name), k) }); i >= 0 {
				note += " (" + known[i] + "?)"
			}
			notes = append(notes, note)
		}
		if d.SkipValue() != nil {
			break
		}
	}
	return notes
}
