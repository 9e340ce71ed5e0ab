package requests

import (
	"bytes"
	"fmt"
	"net/http"
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
	for _, name := range unknownProperties(body) {
		notes = append(notes, "unknown property "+strconv.Quote(name)+" is ignored"+meant(name))
	}
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

// unknownProperties returns the first names of properties that a plant does not have.
func unknownProperties(body []byte) (names []string) {
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true))
	if token, err := d.ReadToken(); err != nil || token.Kind() != jsontext.KindBeginObject {
		return nil
	}
	known := models.PropertyNames()
	for d.PeekKind() == jsontext.KindString && len(names) < maxNotes {
		name, err := d.ReadToken()
		if err != nil {
			break // the body is cut off or malformed
		}
		if text := name.String(); !slices.Contains(known, text) {
			names = append(names, models.ClientText(text))
		}
		if d.SkipValue() != nil {
			break
		}
	}
	return names
}

// meant returns the property of a plant that a misspelled name is near to, such as " (tag?)", or "".
func meant(name string) string {
	for _, property := range models.PropertyNames() {
		if misspell.Near(strings.ToLower(name), property) {
			return fmt.Sprintf(" (%s?)", property)
		}
	}
	return ""
}

// isCreate reports whether a request is a create.
func isCreate(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Path == models.PlantsPath
}
