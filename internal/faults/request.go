package faults

import (
	"io"
	"math"
	"net/http"
	"os"

	"plantstore/models"
)

// change changes a request so that it fails with this code. It returns false for a code that no
// change of a request causes.
func change(r *http.Request, code models.Code) bool {
	switch code {
	case models.CodeBadRequest:
		r.Body = blankBody{r.Body}
	case models.CodeUnauthorized:
		r.Header.Del("Authorization")
	case models.CodeNotFound:
		r.URL.Path = "/nowhere"
	case models.CodeMethodNotAllowed:
		r.Method = http.MethodPut
	case models.CodeRequestTimeout:
		r.Body = slowBody{r.Body}
	case models.CodeContentTooLarge:
		r.ContentLength = math.MaxInt64
	case models.CodeUnsupportedMedia:
		r.Header.Del("Content-Type")
	default:
		return false
	}
	return true
}

// A blankBody has a space in place of each byte, so that it is empty JSON, but as large and as slow.
type blankBody struct{ io.ReadCloser }

func (b blankBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for i := range p[:n] {
		p[i] = ' '
	}
	return n, err
}

// A slowBody does not arrive in time.
type slowBody struct{ io.Closer }

func (slowBody) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }
