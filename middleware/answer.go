// Package middleware holds what a request passes on its way to a handler, each
// in a file of its own, and the one place that turns an error into an answer.
package middleware

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"plantstore/models"
)

// OK answers 200 with plant as JSON (C1.2).
func OK(c *gin.Context, plant models.Plant) {
	encoded, err := plant.AppendJSON(lineOf(c).answer)
	if err != nil {
		Fail(c, err)
		return
	}
	write(c, http.StatusOK, encoded)
}

// Fail ends the request with an answer of status 400 and an Error (C1.3). An
// error that is no [models.Error] is a fault of the server: the client learns
// no more of it than that (C1.5), the access log gets it whole.
func Fail(c *gin.Context, err error) {
	var failure *models.Error
	if !errors.As(err, &failure) {
		failure = models.NewError(models.CodeInternal,
			"the server failed; try again, and report the X-Request-Id if it stays").WithCause(err)
	}
	lineOf(c).failure = failure
	c.Abort()
	encoded, _ := json.Marshal(failure, jsontext.AllowInvalidUTF8(true)) // never fails
	write(c, http.StatusBadRequest, encoded)
}

// write sends a body that was encoded as a whole before, so that no client ever
// sees half an answer.
func write(c *gin.Context, status int, encoded []byte) {
	header := c.Writer.Header()
	values := []string{"application/json", strconv.Itoa(len(encoded))}
	header["Content-Type"], header["Content-Length"] = values[:1:1], values[1:]
	c.Status(status)
	_, _ = c.Writer.Write(encoded) // the client is gone; nobody is left to tell
}
