package middleware

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

// challenge is the value of WWW-Authenticate for a request without a credential. The
// error code of an invalid one is appended (RFC 6750, section 3).
const challenge = `Bearer realm="plants"`

// Verify returns the subject of a valid access token. Its error is a [models.Error] of
// CodeUnauthorized or CodeForbidden.
type Verify func(token string) (subject string, err error)

// Bearer requires exactly one Authorization header field with a token that verify
// accepts (C4.20). Other requests fail with WWW-Authenticate as in RFC 6750. It calls missing
// for those without a token, unless it is nil.
func Bearer(verify Verify, missing func()) gin.HandlerFunc {
	return func(c *gin.Context) {
		token, err := Token(c.Request.Header)
		if err == nil {
			RequestOf(c).subject, err = verify(token)
		} else if missing != nil {
			missing()
		}
		if err != nil {
			c.Header("WWW-Authenticate", challenge+errorCode(err))
			Fail(c, err)
		}
	}
}

// errNoToken and errManyTokens are the Errors of a request without exactly one token.
var (
	errNoToken = models.NewError(models.CodeUnauthorized,
		"send an access token in the header field Authorization: Bearer <ACCESS_TOKEN>")
	errManyTokens = models.NewError(models.CodeUnauthorized, "send one Authorization header field, not several")
)

// Token returns the access token in the header of a request. Its error is a [models.Error].
func Token(header http.Header) (string, error) {
	values := header["Authorization"]
	if len(values) > 1 {
		return "", errManyTokens
	}
	scheme, token := "", ""
	if len(values) == 1 {
		scheme, token, _ = strings.Cut(values[0], " ")
	}
	if !strings.EqualFold(scheme, "Bearer") {
		return "", errNoToken
	}
	return strings.TrimLeft(token, " "), nil
}

// errorCode returns the error code of a rejected credential (RFC 6750, section 3.1).
func errorCode(err error) string {
	var failure *models.Error
	switch {
	case errors.Is(err, errNoToken):
		return ""
	case errors.Is(err, errManyTokens):
		return `, error="invalid_request"`
	case errors.As(err, &failure) && failure.Code == models.CodeForbidden:
		return `, error="insufficient_scope"`
	}
	return `, error="invalid_token"`
}
