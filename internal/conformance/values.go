package conformance

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// values are the values of the names in double braces.
type values struct {
	host, scheme, path, token string

	origin  string // an origin that the server allows
	allowed string // the value of Access-Control-Allow-Origin: origin, or *

	secret  []byte
	key     Key    // signs instead of the secret, if not nil
	public  []byte // the public half of key, PEM
	claims  string // properties of a claims set that the server requires
	maxBody int
	firstID int64
	racer   int
	start   *sync.WaitGroup // if not nil, all connect before any sends
	hidden  bool            // show placeholders of credentials
	// template shows the names in double braces themselves.
	template bool
}

// idsPerCase is the maximum number of fresh ids of a case.
const idsPerCase = 4

// forCase returns the values of the i-th case, with ids that no other case has.
func (v values) forCase(i int) values {
	v.firstID += int64(i+1) * idsPerCase
	return v
}

// shown returns the values for a report.
func (v values) shown() values {
	v.hidden, v.token = true, "$TOKEN"
	return v
}

// redact removes credentials from a text that the server has sent.
func (v values) redact(s string) string {
	return hide(hide(s, v.token, "$TOKEN"), string(v.secret), "REDACTED")
}

// hide replaces a credential in a text. One of less than 16 bytes is replaced only where it is not part
// of a word, and one of less than 8 bytes, such as test, not at all: it may be any word.
func hide(s, credential, with string) string {
	switch n := len(credential); {
	case n < 8 || !strings.Contains(s, credential):
		return s
	case n < 16:
		pattern := edges.ReplaceAllString(regexp.QuoteMeta(credential), `${end}\b${start}`)
		return regexp.MustCompile(pattern).ReplaceAllLiteralString(s, with)
	}
	return strings.ReplaceAll(s, credential, with)
}

// edges matches a letter or digit at the start or end of a text.
var edges = regexp.MustCompile(`^(?P<start>\w)|(?P<end>\w)$`)

func (v values) fill(s string, more ...string) string {
	if v.template || !strings.Contains(s, "{{") {
		return s
	}
	return strings.NewReplacer(append(more,
		"{{host}}", v.host, "{{scheme}}", v.scheme, "{{path}}", v.path, "{{origin}}", v.origin, "{{allowed}}", v.allowed,
		"{{token}}", v.token, "{{public key}}", string(v.public), "{{racer}}", strconv.Itoa(v.racer),
		"{{id}}", strconv.FormatInt(v.firstID, 10),
		"{{id2}}", strconv.FormatInt(v.firstID+1, 10),
		"{{id3}}", strconv.FormatInt(v.firstID+2, 10),
	)...).Replace(s)
}

// leeway is the tolerance for exp and nbf (C4.22).
const leeway = 5 * time.Second

// fillClaims fills in the text of a claims set; times are in whole seconds.
func (v values) fillClaims(s string) string {
	at := func(d time.Duration) string { return strconv.FormatInt(time.Now().Add(d).Unix(), 10) }
	return v.fill(s,
		"{{base}}", v.claims,
		"{{live}}", v.claims+`,"exp":`+at(time.Hour),
		"{{soon}}", at(time.Hour),
		"{{long ago}}", at(-leeway-time.Hour),
		"{{just now}}", at(-leeway/2),
		"{{in a moment}}", at(leeway/2),
		"{{in an hour}}", at(leeway+time.Hour),
	)
}

// bytes returns the request as sent.
func (r Request) bytes(v values) ([]byte, error) {
	jwt := ""
	if r.Token != nil {
		var err error
		if jwt, err = r.Token.text(v); err != nil {
			return nil, err
		}
	}
	if r.Raw != "" {
		return []byte(v.fill(r.Raw, "{{jwt}}", jwt)), nil
	}
	body := v.fill(r.Body, "{{jwt}}", jwt)
	if !strings.Contains(r.Body, "{{fill}}") && !strings.Contains(r.Body, "{{space}}") && len(body) > v.maxBody {
		return nil, fmt.Errorf("%w: it needs a limit of at least %d bytes for a body", errNotApplicable, len(body))
	}
	for name, with := range map[string]string{"{{fill}}": "x", "{{space}}": " "} {
		if before, after, found := strings.Cut(body, name); found {
			body = before + strings.Repeat(with, max(v.maxBody+r.Size-len(before)-len(after), 0)) + after
		}
	}
	var b bytes.Buffer
	b.Grow(len(body) + 1024)
	for _, line := range append([]string{r.Line}, r.Header...) {
		b.WriteString(v.fill(line, "{{jwt}}", jwt, "{{length}}", strconv.Itoa(len(body))))
		b.WriteString("\r\n")
	}
	b.WriteString("\r\n")
	if r.Chunk == 0 {
		b.WriteString(body)
	} else {
		writeChunks(&b, body, r.Chunk)
	}
	return b.Bytes(), nil
}

func writeChunks(b *bytes.Buffer, body string, size int) {
	for len(body) > 0 {
		n := min(size, len(body))
		fmt.Fprintf(b, "%x\r\n%s\r\n", n, body[:n])
		body = body[n:]
	}
	b.WriteString("0\r\n\r\n")
}
