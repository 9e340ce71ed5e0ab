package requests

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"plantstore/models"
)

// fold matches the line break within a folded field.
var fold = regexp.MustCompile(`[ \t]*\r?\n[ \t]+`)

// request returns the request without tokens.
func (e *entry) request() Request {
	r, text := e.Request, string(e.body)
	if int64(len(text)) < r.BodyBytes {
		text += "…"
	}
	line, fields, _ := strings.Cut(fold.ReplaceAllString(e.head, " "), "\n")
	first := append(strings.SplitN(strings.TrimSpace(line), " ", 3), "", "", "")
	r.Method, r.Target, r.Version = redact(first[0]), redact(first[1]), redact(first[2])
	for line := range strings.Lines(fields) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.Trim(value, " \t\r\n")
		switch strings.ToLower(name) {
		case "authorization":
			value = e.credential(value)
		case "proxy-authorization", "cookie", "x-api-key": // perhaps of another server on this host
			value = models.Redacted
		}
		r.Header = append(r.Header, Field{redact(name), redact(value)})
	}
	r.Body, r.Message, r.Subject = redact(text), redact(e.Message), redact(e.Subject)
	return r
}

// credential returns the scheme of a credential, and its outcome in the place of the rest. Only a create
// checks it. A value without a space may be the token itself.
func (e *entry) credential(value string) string {
	scheme, _, found := strings.Cut(value, " ")
	if scheme += " "; !found || len(scheme) > len("SCRAM-SHA-256 ") {
		scheme = ""
	}
	switch {
	case e.Error == int(models.CodeUnauthorized), e.Error == int(models.CodeForbidden):
		return scheme + "(refused: " + e.Message + ")"
	case e.create:
		return scheme + "(valid, subject " + e.Subject + ")"
	}
	return scheme + "(not checked)"
}

// escape matches an ASCII character in a URL, or in JSON, perhaps within JSON.
var escape = regexp.MustCompile(`%[0-9A-Fa-f]{2}|\\+u00[0-9A-Fa-f]{2}`)

// redact returns valid UTF-8 without tokens (C4.25). If escapes hide a token, or are within each other
// too often to look, nothing is left.
func redact(text string) string {
	text = strings.ToValidUTF8(models.RedactTokens(text), "\uFFFD")
	plain := text
	for range 4 {
		plain = escape.ReplaceAllStringFunc(plain, func(match string) string {
			code, _ := strconv.ParseUint(match[len(match)-2:], 16, 8) // it matches
			return string(rune(code))
		})
	}
	if escape.MatchString(plain) || models.HoldsToken(plain) {
		return models.Redacted
	}
	return text
}

// SetLines sets the lines of the request for people: its header, and its body, indented if it is JSON,
// with its numbers as they were sent. A line begins with "> " if it is of a property that the message
// names, else with two spaces.
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
		case found && strings.Contains("; "+r.Message, "; "+name+": "):
			mark = "> "
		case found, line[0] != ' ':
			mark = "  "
		}
		r.Lines = append(r.Lines, mark+strings.TrimSuffix(line, "\n"))
	}
}
