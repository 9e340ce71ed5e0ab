package middleware

import (
	"errors"
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
		token, code, err := credential(c.Request.Header["Authorization"])
		if err != nil {
			if missing != nil {
				missing()
			}
			reject(c, code, err)
			return
		}
		subject, err := verify(token)
		if err != nil {
			reject(c, errorCode(err), err)
			return
		}
		RequestOf(c).subject = subject
	}
}

// reject responds to a request whose credential is not accepted.
func reject(c *gin.Context, code string, err error) {
	c.Header("WWW-Authenticate", challenge+code)
	Fail(c, err)
}

// credential returns the token in the values of Authorization, or an Error and its error
// code for WWW-Authenticate.
func credential(values []string) (token, code string, err error) {
	if len(values) > 1 {
		return "", `, error="invalid_request"`,
			models.NewError(models.CodeUnauthorized, "send one Authorization header field, not several")
	}
	scheme := ""
	if len(values) == 1 {
		scheme, token, _ = strings.Cut(values[0], " ")
	}
	if !strings.EqualFold(scheme, "Bearer") {
		return "", "", models.NewError(models.CodeUnauthorized,
			"send an access token in the header field Authorization: Bearer <ACCESS_TOKEN>")
	}
	return strings.TrimLeft(token, " "), "", nil
}

// errorCode returns the error code of a rejected token (RFC 6750, section 3.1).
func errorCode(err error) string {
	var failure *models.Error
	if errors.As(err, &failure) && failure.Code == models.CodeForbidden {
		return `, error="insufficient_scope"`
	}
	return `, error="invalid_token"`
}
