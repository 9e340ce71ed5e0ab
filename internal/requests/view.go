package requests

import (
	"bytes"
	"maps"
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

// redact sets the parts of a request that were sent, and leaves out credentials.
func (e *entry) redact() {
	if int64(len(e.body)) < e.BodyBytes {
		e.body = append(e.body, "…"...)
	}
	e.Body, e.Message, e.Subject = valid(models.Redact(string(e.body))), valid(e.Message), valid(models.Redact(e.Subject))
	if e.sent == nil {
		return
	}
	left := maxHeader
	take := func(text string) string {
		if len(text) > left {
			text = text[:left] + "…"
		}
		left -= min(left, len(text))
		return valid(text)
	}
	e.Method, e.Version = take(models.Redact(e.sent.Method)), e.sent.Proto
	path, query, found := strings.Cut(e.sent.RequestURI, "?")
	if e.Target = take(models.RedactField("", path)); found {
		e.Target += "?" + take(models.RedactField("", query))
	}
	fields := http.Header{"Host": {e.sent.Host}} // net/http has removed it
	if e.sent.TransferEncoding != nil {
		fields["Transfer-Encoding"] = e.sent.TransferEncoding
	}
	maps.Copy(fields, e.sent.Header)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		for _, value := range fields[name] {
			if left == 0 {
				return
			}
			if name == "Authorization" {
				value = e.credential(value)
			} else {
				value = models.RedactField(name, value)
			}
			e.Header = append(e.Header, Field{take(name), take(value)})
		}
	}
}

// valid returns valid UTF-8, which JSON requires.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// credential returns the scheme of a credential, and its outcome in the place of the rest. Only a create
// checks it, unless the server has no keys yet.
func (e *entry) credential(value string) string {
	scheme := models.CredentialScheme(value)
	if scheme != "" {
		scheme += " "
	}
	switch {
	case e.Error == int(models.CodeUnauthorized), e.Error == int(models.CodeForbidden):
		return scheme + "(refused: " + e.Message + ")"
	case e.Subject != "":
		return scheme + "(valid, subject " + e.Subject + ")"
	}
	return scheme + "(not checked)"
}

// SetLines sets the lines of the request for people: its header, and its body, indented if it is JSON,
// with its numbers as they were sent. A line begins with "> " if it is of a property that the message
// or a note names, else with two spaces.
func (r *Request) SetLines() {
	r.Lines = []string{"  " + r.Method + " " + r.Target + " " + r.Version}
	for _, field := range r.Header {
		r.Lines = append(r.Lines, "  "+field.Name+": "+field.Value)
	}
	text, mark := jsontext.Value(r.Body), "  "
	if r.BodyUnread {
		text = jsontext.Value("(the body was not read)")
	}
	if len(text) > 0 {
		r.Lines = append(r.Lines, "")
	}
	if strings.Count(r.Body, "[")+strings.Count(r.Body, "{") < 64 { // the memory grows with the square of the depth
		_ = text.Indent(jsontext.AllowDuplicateNames(true), jsontext.WithIndent("  ")) // not JSON stays as it is
	}
	for line := range strings.Lines(string(text)) {
		name, found := strings.CutPrefix(line, `  "`) // of a property of the plant
		name, _, _ = strings.Cut(name, `"`)
		switch {
		case found && r.names(name):
			mark = "> "
		case found, line[0] != ' ':
			mark = "  "
		}
		r.Lines = append(r.Lines, mark+strings.TrimSuffix(line, "\n"))
	}
}

// names reports whether the message or a note names a property.
func (r *Request) names(property string) bool {
	return strings.Contains("; "+r.Message, "; "+property+": ") || slices.ContainsFunc(r.Notes, func(note string) bool {
		return strings.HasPrefix(note, "unknown property "+strconv.Quote(property)+" ") || strings.HasPrefix(note, "the "+property+" ")
	})
}

// maxNotes bounds the unknown properties in [Request.Notes].
const maxNotes = 5

// notesOf returns what may be wrong with a request that is not refused for it, and whether its outcome is on demand.
func notesOf(o *middleware.Outcome, body []byte) (notes []string) {
	if o.Name == middleware.Fault || o.Delayed > 0 {
		notes = append(notes, "on demand (Prefer)")
	}
	if o.Error != nil && o.Error.Code == models.CodeBadRequest {
		return notes // not JSON, which its message says
	}
	notes = append(notes, unknownProperties(body)...)
	const exact = 1 << 53 // the integers up to here are numbers in JavaScript
	id := strconv.FormatInt(o.PlantID, 10)
	if o.Plant && (o.PlantID >= exact || o.PlantID <= -exact) && id == strconv.FormatFloat(float64(o.PlantID), 'f', -1, 64) {
		notes = append(notes, "the id is beyond 2^53: JavaScript rounds it")
	}
	switch {
	case o.Error != nil:
	case faults.ParsePrefer([]string{o.Prefer}) != (faults.Fault{}):
		notes = append(notes, "Prefer is ignored: faults are off")
	case faults.Demands(o.Prefer):
		notes = append(notes, "Prefer is ignored: it must be like code=503 or delay=2s, at most "+faults.MaxDelay.String())
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
