package conformance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// shortLength is the maximum length of a text in a report.
const shortLength = 160

// short escapes control characters and cuts out the middle of a long text.
func short(s string, length int) string {
	if len(s) <= length {
		return escape(s)
	}
	return escape(s[:length*3/4]) + fmt.Sprintf("…(%d bytes)", len(s)) + escape(s[len(s)-length/4:])
}

// code formats a text, escaped and shortened.
func code(s string) string {
	if s == "" {
		return "(empty)"
	}
	return short(s, shortLength)
}

// escape escapes a text as in a Go string, except quotes.
func escape(s string) string {
	quoted := quote(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

func quote(s string) string { return strconv.QuoteToGraphic(s) }

func anyOf(codes []int) string {
	texts := make([]string, len(codes))
	for i, c := range codes {
		texts[i] = strconv.Itoa(c)
	}
	return strings.Join(texts, " or ")
}

// sent describes the requests of a case, with ids but without credentials.
func (c Case) sent(v values) []string {
	var lines []string
	for _, t := range c.Exchanges {
		for _, r := range t.Send {
			b, err := r.bytes(v)
			if err != nil {
				return []string{err.Error()}
			}
			line := short(string(b), 2*shortLength) + t.manner()
			if r.Token != nil {
				line += "  [$JWT: " + r.Token.describe(v) + "]"
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// wanted describes the expected responses of a case.
func (c Case) wanted(v values) []string {
	var lines []string
	for _, t := range c.Exchanges {
		for _, a := range t.Want {
			lines = append(lines, a.describe(v)+t.connectionState())
		}
	}
	return lines
}

// describe returns how a request differs from an ordinary create.
func (r Request) describe() string {
	if r.Raw != "" {
		return code(r.Raw)
	}
	var parts []string
	if r.Line != postLine {
		parts = append(parts, code(r.Line))
	}
	standard := standardHeader()
	lines := r.Header
	if n := len(lines); n > 20 {
		parts = append(parts, fmt.Sprintf("%d header fields like", n))
		lines = lines[n-1:]
	}
	for _, line := range lines {
		if !slices.Contains(standard, line) && (line != "Authorization: Bearer {{jwt}}" || r.Token == nil) {
			parts = append(parts, code(line))
		}
	}
	if r.Token != nil {
		parts = append(parts, "token "+r.Token.describe(values{template: true}))
	}
	for _, line := range standard[1:3] {
		if name, _, _ := strings.Cut(line, ":"); r.lacks(name) && r.Line == postLine {
			parts = append(parts, "no "+name)
		}
	}
	if r.Body != "" {
		parts = append(parts, code(r.Body))
	}
	if strings.Contains(r.Body, "{{fill}}") || strings.Contains(r.Body, "{{space}}") {
		parts = append(parts, fmt.Sprintf("(%+d bytes to the limit)", r.Size))
	}
	if len(parts) == 0 {
		return "an empty body"
	}
	return strings.Join(parts, ", ")
}

func (r Request) lacks(name string) bool {
	return !slices.ContainsFunc(r.Header, func(line string) bool { return strings.HasPrefix(line, name+":") })
}

func (t Token) describe(v values) string {
	var parts []string
	if t.Given {
		parts = append(parts, "given, changed as the name of the case describes")
	}
	if t.Header != "" {
		parts = append(parts, "header "+code(v.fill(t.Header)))
	}
	if t.Claims != "" {
		parts = append(parts, "claims "+code(v.fillClaims(t.Claims)))
	}
	if t.MAC != "" {
		parts = append(parts, "signed "+t.MAC)
	}
	if t.Key != "" {
		parts = append(parts, "key "+code(v.fill(t.Key)))
	}
	if len(parts) == 0 {
		return "signed as it should be"
	}
	return strings.Join(parts, ", ")
}

// describe returns a short description of a response.
func (a Response) describe(v values) string {
	var parts []string
	switch {
	case a.Kind == KindHead:
		parts = append(parts, "400 without a body")
	case a.Kind == KindDocument:
		parts = append(parts, "200, the description")
	case a.Kind == KindPreflight:
		parts = append(parts, "200 or 204")
	case slices.Equal(a.Codes, []int{200}):
		parts = append(parts, "200, "+a.plant(v))
	case slices.Contains(a.Codes, 200):
		parts = append(parts, "200 or error "+anyOf(slices.DeleteFunc(slices.Clone(a.Codes), func(c int) bool { return c == 200 })))
	default:
		parts = append(parts, "error "+anyOf(a.Codes))
	}
	if len(a.Naming) > 0 {
		parts = append(parts, "naming "+strings.Join(a.Naming, ", "))
	}
	for _, name := range sortedKeys(a.Header) {
		parts = append(parts, describeHeader(name, v.fill(a.Header[name])))
	}
	if a.Challenge != "" {
		parts = append(parts, "WWW-Authenticate with "+code(a.Challenge))
	}
	if a.NoChallenge != "" {
		parts = append(parts, "WWW-Authenticate without "+code(a.NoChallenge))
	}
	if a.Label != "" {
		parts = append(parts, "message labelled "+a.Label)
	}
	return strings.Join(parts, ", ")
}

func (a Response) plant(v values) string {
	var fields []string
	for _, field := range a.Plant {
		fields = append(fields, field.Name+" "+code(v.fill(field.Text)))
	}
	return strings.Join(fields, ", ")
}

func describeHeader(name, value string) string {
	part, contains := strings.CutPrefix(value, "~")
	switch {
	case value == "":
		return "no " + name
	case contains:
		return name + " with " + code(part)
	}
	return code(name + ": " + value)
}

// manner describes how requests are sent, if not in the usual way.
func (t Exchange) manner() string {
	var parts []string
	if t.Plain {
		parts = append(parts, "in plain HTTP")
	}
	if t.Pipelined {
		parts = append(parts, "all at once")
	}
	if t.Pieces > 0 {
		parts = append(parts, fmt.Sprintf("%d bytes at a time", t.Pieces))
	}
	if t.HoldBack > 0 {
		parts = append(parts, fmt.Sprintf("without the last %d bytes", t.HoldBack))
	}
	switch t.Then {
	case ThenReceive:
	case ThenHalfClose:
		parts = append(parts, "then half-closed")
	case ThenDrop:
		parts = append(parts, "then closed")
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// connectionState describes the required state of the connection, if any.
func (t Exchange) connectionState() string {
	switch t.After {
	case AfterKept:
		return ", connection kept"
	case AfterClosed:
		return ", connection closed"
	case AfterEither:
	}
	return ""
}

// describe returns the response as received, without credentials.
func (h received) describe(v values) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s", h.status, short(v.redact(string(h.body)), shortLength))
	for _, name := range sortedKeys(h.header) {
		if name != "Date" && name != "Content-Length" {
			fmt.Fprintf(&b, " | %s: %s", name, short(v.redact(strings.Join(h.header[name], ", ")), shortLength))
		}
	}
	return b.String()
}
