package middleware_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"

	"plantstore/internal/must"
	"plantstore/middleware"
	"plantstore/models"
)

// TestBodyLimit checks the exact limit, and the Errors of bodies that cannot be read whole.
func TestBodyLimit(t *testing.T) {
	t.Parallel()
	const limit = 5
	tests := map[string]struct {
		body io.Reader
		size int64 // as announced, -1 if chunked
		code models.Code
		text string
	}{
		"over, not read":     {failingBody{errors.New("read")}, 6, 413, "5 bytes"},
		"one byte over":      {strings.NewReader("123456"), -1, 413, "5 bytes"},
		"endless":            {endless{}, -1, 413, "5 bytes"},
		"too slow":           {failingBody{os.ErrDeadlineExceeded}, 5, 408, "slowly"},
		"cut short":          {io.MultiReader(strings.NewReader("1"), failingBody{io.ErrUnexpectedEOF}), 5, 400, "shorter"},
		"broken":             {failingBody{errors.New("malformed chunked encoding")}, -1, 400, "could not be read"},
		"broken at the edge": {io.MultiReader(strings.NewReader("12345"), failingBody{io.ErrUnexpectedEOF}), -1, 400, "shorter"},
	}
	for _, announced := range []int64{limit, -1} {
		r := post(t, http.Header{}, strings.NewReader("12345"))
		r.ContentLength = announced
		if w := serve(t, r, middleware.BodyLimit(limit), readAll); !reached(w) {
			t.Errorf("a body at the limit, announced as %d: %s", announced, w.Body)
		}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := post(t, http.Header{}, tt.body)
			r.ContentLength = tt.size
			must.Refuse(t, serve(t, r, middleware.BodyLimit(limit), readAll), tt.code, tt.text)
		})
	}
}

// readAll is a handler that reads the body.
func readAll(c *gin.Context) {
	if _, err := io.Copy(io.Discard, c.Request.Body); err != nil {
		middleware.Fail(c, err)
		return
	}
	pass(c)
}

// TestBodyMemory checks that the bodies of all open requests share one limit, of which the bodies of
// a token subject get a quarter, and that a body beyond it is error 503. A Content-Length alone
// does not count, small bodies always pass, and a response releases the share of its request.
func TestBodyMemory(t *testing.T) {
	t.Parallel()
	const limit = 32 << 20 // four fill the memory
	const small = 4 << 10
	handler := middleware.BodyLimit(limit)
	outcomes := middleware.Outcomes(func(context.Context, *middleware.Outcome) {})
	bearer := middleware.Bearer(func(_ context.Context, token string) (string, error) { return token, nil }, nil)
	entered, leave := make(chan struct{}), make(chan struct{})
	request := func(subject string, body io.Reader, announced int64, then gin.HandlerFunc) *httptest.ResponseRecorder {
		r := post(t, http.Header{"Authorization": {"Bearer " + subject}}, body)
		r.ContentLength = announced
		return serve(t, r, outcomes, bearer, handler, then)
	}
	var held sync.WaitGroup
	hold := func(subject string, size int64) { // of a body with the largest allowed Content-Length
		held.Go(func() {
			request(subject, endless{}, limit, func(c *gin.Context) {
				if _, err := io.CopyN(io.Discard, c.Request.Body, size); err != nil {
					t.Error(err)
				}
				entered <- struct{}{}
				<-leave
				pass(c)
			})
		})
		<-entered
	}
	wantFull := func(subject, text string) {
		t.Helper()
		for _, announced := range []int64{small + 1, -1} {
			must.Refuse(t, request(subject, strings.NewReader(strings.Repeat("x", small+1)), announced, readAll), 503, text)
		}
		for _, announced := range []int64{small, -1} {
			if w := request(subject, strings.NewReader(strings.Repeat("x", small)), announced, readAll); !reached(w) {
				t.Errorf("a small body: %d %s", w.Code, w.Body)
			}
		}
	}
	for range 8 {
		hold("a", 0)
	}
	hold("a", limit/2)
	hold("a", limit/2)
	wantFull("a", "share")
	for _, subject := range []string{"b", "c", "d"} {
		hold(subject, limit)
	}
	wantFull("a", "overloaded")
	wantFull("e", "overloaded")
	close(leave)
	held.Wait()
	for range 9 {
		if w := request("a", io.LimitReader(endless{}, limit), -1, readAll); !reached(w) {
			t.Fatalf("after all responses: %d %s", w.Code, w.Body)
		}
	}
}

// endless is an infinite body.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// A failingBody fails at the first read.
type failingBody struct{ err error }

func (b failingBody) Read([]byte) (int, error) { return 0, b.err }
