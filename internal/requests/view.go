package requests

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"plantstore/models"
)

// request returns the request without tokens.
func (e *entry) request() Request {
	r, text := e.Request, string(e.body)
	if int64(len(text)) < r.BodyBytes {
		text += "…"
	}
	line, fields, _ := strings.Cut(e.head, "\n")
	method, line, _ := strings.Cut(strings.TrimRight(line, "\r"), " ")
	target, version, _ := strings.Cut(line, " ")
	r.Method, r.Target, r.Version, r.Header = redact(method), redact(target), redact(version), e.fields(fields)
	r.Body, r.Message, r.Subject = redact(text), redact(e.Message), redact(e.Subject)
	return r
}

// fields returns the fields in the text of the header.
func (e *entry) fields(text string) []Field {
	fields := []Field{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		name, value, _ := strings.Cut(line, ":")
		if last := len(fields) - 1; last >= 0 && strings.TrimLeft(line, " \t") != line { // a folded line
			name, value = fields[last].Name, fields[last].Value+" "+strings.TrimLeft(line, " \t")
			fields = fields[:last]
		}
		fields = append(fields, Field{name, strings.Trim(value, " \t")})
	}
	for i, field := range fields {
		switch strings.ToLower(field.Name) {
		case "authorization":
			fields[i].Value = e.credential(field.Value)
		case "proxy-authorization", "cookie", "x-api-key": // perhaps of another server on this host
			fields[i].Value = models.Redacted
		default:
			fields[i] = Field{redact(field.Name), redact(field.Value)}
		}
	}
	return fields
}

// credential returns the scheme of a credential, and its outcome in the place of the rest. Only a create
// checks it. A value without a space may be the token itself.
func (e *entry) credential(value string) string {
	scheme, _, found := strings.Cut(value, " ")
	if !found || len(scheme) > len("SCRAM-SHA-256") {
		scheme = ""
	}
	outcome := "(not checked)"
	switch {
	case e.Error == int(models.CodeUnauthorized), e.Error == int(models.CodeForbidden):
		outcome = "(refused: " + e.Message + ")"
	case e.create:
		outcome = "(valid, subject " + e.Subject + ")"
	}
	return redact(strings.TrimLeft(scheme+" "+outcome, " "))
}

// escape matches an ASCII character in a URL, or in JSON, perhaps within JSON.
var escape = regexp.MustCompile(`%[0-9A-Fa-f]{2}|\\+u00[0-9A-Fa-f]{2}`)

// redact returns valid UTF-8 without tokens (C4.25). If escapes hide a token, nothing is left.
func redact(text string) string {
	text = strings.ToValidUTF8(models.RedactTokens(text), "\uFFFD")
	for plain, before := text, ""; plain != before; {
		if before = plain; models.HoldsToken(plain) {
			return models.Redacted
		}
		plain = escape.ReplaceAllStringFunc(plain, func(match string) string {
			code, _ := strconv.ParseUint(match[len(match)-2:], 16, 8) // it matches
			return string(rune(code))
		})
	}
	return text
}

// A Line is a line of a body for people.
type Line struct {
	Text   string `json:"text"`
	Marked bool   `json:"marked,omitzero"` // the message of the Error names its property
}

// SetLines sets the lines of the body. JSON is indented, with its numbers as they were sent.
func (r *Request) SetLines() {
	value, marked := jsontext.Value(r.Body), false
	_ = value.Indent(jsontext.AllowDuplicateNames(true), jsontext.WithIndent("  ")) // else as it is
	for text := range strings.Lines(string(value)) {
		text = strings.TrimSuffix(text, "\n")
		if name, found := strings.CutPrefix(text, `  "`); found { // a property of the plant
			name, _, _ = strings.Cut(name, `"`)
			marked = strings.Contains("; "+r.Message, "; "+name+": ")
		}
		r.Lines = append(r.Lines, Line{text, marked && strings.HasPrefix(text, " ")})
	}
	if r.BodyUnread {
		r.Lines = []Line{{Text: "(the body was not read)"}}
	}
}
